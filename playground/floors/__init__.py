"""From counts to time: what a launch cannot be faster than, resource by resource, on any known GPU."""
