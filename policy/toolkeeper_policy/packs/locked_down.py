"""What does the pack `locked-down` say?"""

TEXT = """\
# For sessions nobody watches closely: only reads of one's own workspace run unasked, private and
# network reads and writes to the workspace are asked, and whatever leaves the house is denied.
version: 1
taint: ask
defaults:
  none: allow
  workspace_read: allow
  network_read: ask
  workspace_write: ask
  network_write: deny
  message_send: deny
  code_execution: deny
  financial: deny
rules:
  - id: locked-down/private
    flags: [private]
    effect: ask
  - id: locked-down/open-world
    flags: [open_world]
    effect: ask
  - id: locked-down/destructive
    flags: [destructive]
    effect: deny
hardline:
  - id: locked-down/no-payments
    side_effects: [financial]
    effect: deny
"""
