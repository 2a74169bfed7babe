"""What does the pack `developer-workstation` say?"""

TEXT = """\
# For a developer in front of the screen: files may be read and written, the network may be read,
# and what runs code, destroys, or leaves the machine is asked.
version: 1
taint: ask
defaults:
  none: allow
  workspace_read: allow
  network_read: allow
  workspace_write: allow
  network_write: ask
  message_send: ask
  code_execution: ask
  financial: deny
rules:
  - id: developer-workstation/destructive
    flags: [destructive]
    effect: ask
"""
