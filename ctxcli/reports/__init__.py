"""What each verb concludes, a file each. Field for field the JSON that ctx writes: see schemas/."""
