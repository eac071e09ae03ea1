"""The closed sets that recognition rests on: file endings, folders, endings of domains, error codes."""

import re

FILE_ENDINGS = frozenset(
    """
    adoc asm astro avif bash bat bak bin bmp bz2 c cc cfg cjs class clj cmake conf cpp cs css csv cxx dart db diff
    dll dockerfile doc docx dylib ejs elm env erb erl eot err ex exe exs fish fs gif go gql gradle graphql gz h
    hbs hcl heic hh hpp hrl hs htm html ico idx ini ipynb jar java jpeg jpg js json json5 jsonc jsonl jsx kt kts
    less lib liquid lock log lua m mak map markdown md mdx mjs mk ml mli mm mod mov mp3 mp4 mts ndjson nim nix npy
    o obj ogg out parquet patch pdf pem php pickle pid pl plist pm png po pot prisma proto ps1 psd pub py pyc pyi
    pyx qml r rar rb rs rst s sass sbt scala scss sh sln so sock sql sqlite sqlite3 srt sty styl sum svelte svg
    swift tar tex tf tfvars tgz tif tiff toml traj ts tsv tsx ttf txt vue wasm wav webm webmanifest webp wheel whl
    woff woff2 xcodeproj xhtml xls xlsx xml xsd xz yaml yml zig zip zsh zst cts csproj service timer tmpl tpl
    jinja j2 snap
    """.split()
)

NOT_FILES = frozenset(
    f"{name}.js"
    for name in """
    alpine asp backbone chart d3 discord ember express knockout moment nest next node nuxt p5 pixi react socket
    solid three vue web
    """.split()
) | {"asp.net", "e.g", "i.e", "vs.code"}
"""Names of programs that look like file names."""

BARE_FILES = frozenset({"Makefile", "Dockerfile", "Gemfile", "Rakefile", "Procfile", "Justfile", "Vagrantfile"})
"""Files without an ending."""

LISTING = re.compile(r"[dl-][rwxsStT-]{9}")
"""How a line of `ls -l` begins; its last run is a name."""

PROMPT = re.compile(r"[\w.-]{1,60}@[\w.-]{1,60}:([~/][\w./~-]{0,200})?[#$] ")
"""What a shell shows before a command: `root@host:/app# `."""

FOLDERS = frozenset(
    """
    app apps api assets benchmark benchmarks bench bin build ci client cmd common components conf config configs
    content core crates data deploy dist doc docs e2e etc example examples ext features fixtures frontend backend
    hack helpers home include infra internal lib libs locales migrations mod models modules node_modules opt
    output packages pages pkg plugins private proto public resources root run schemas scripts sdk server services
    shared site spec specs src static store storage styles target templates test tests testdata tmp tools types ui
    usr util utils var vendor views web website workers
    """.split()
)
"""First segments that make two words with a slash a path."""

ROOT_FOLDERS = frozenset("app bin boot dev etc home lib mnt opt proc root run sbin srv sys tmp usr var".split())
"""Folders at the root that are a path by themselves."""

TOP_LEVELS = frozenset(
    """
    com org net io dev app ai co gov edu mil int info biz sh me xyz tech cloud local internal localhost lan test
    example uk de fr nl se no fi dk pl cz ch eu us ca au nz jp cn kr ru ua br mx es pt gr tr il sg hk tw
    """.split()
)

SURE_TOP_LEVELS = frozenset(
    """
    com org net io dev ai gov edu uk de fr nl eu cloud local internal
    """.split()
)
"""Endings that make a bare name with one dot a host."""

ERRNO = frozenset(
    """
    E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAGAIN EALREADY EBADF EBUSY ECANCELED ECHILD ECONNABORTED ECONNREFUSED
    ECONNRESET EDEADLK EDQUOT EEXIST EFAULT EFBIG EHOSTUNREACH EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR ELOOP
    EMFILE EMLINK ENAMETOOLONG ENETUNREACH ENFILE ENODEV ENOENT ENOEXEC ENOLCK ENOMEM ENOSPC ENOSYS ENOTCONN
    ENOTDIR ENOTEMPTY ENOTFOUND ENOTSOCK ENOTSUP EPERM EPIPE EPROTO ERANGE EROFS ESRCH ETIMEDOUT ETXTBSY EXDEV
    ERESOLVE EUSAGE ELIFECYCLE EJSONPARSE EINTEGRITY ENOWORKSPACES EBADENGINE ENOGIT EOTP SIGKILL SIGSEGV SIGABRT
    SIGTERM
    """.split()
)

NOT_TICKETS = frozenset(
    """
    UTF SHA GPT ISO MD AES RSA HTTP TLS SSL IPV COVID RFC CVE CWE PEP BCP ECMA ES IEEE USB PCI MP H X CP ASCII
    Q1 Q2 Q3 Q4 FY GPL LGPL AGPL TODO FIXME STEP PHASE OPTION PLAN PART
    LATIN BASE WINDOWS CP1252 F RTX GTX A B C D T V P Q K M N S L G Y Z
    """.split()
)
"""Prefixes of standards and products that look like a tracker's keys."""

COMMANDS = frozenset(
    """
    cat cd chmod chown code cp diff du emacs find git go grep head less ln ls make mkdir mv nano node npx open
    python python3 rg rm rmdir rsync scp sed source tail tar touch tree vi vim wc zip unzip stat
    """.split()
)
"""Commands whose arguments are paths."""
