"""What does the pack `reads-free` say?"""

TEXT = """\
# Reads run unasked, everything that changes the world is asked, payments are denied.
version: 1
defaults:
  none: allow
  workspace_read: allow
  network_read: allow
  workspace_write: ask
  network_write: ask
  message_send: ask
  code_execution: ask
  financial: deny
taint: ask
"""
