"""What does the pack `lethal-trifecta` say?"""

TEXT = """\
# Private data, untrusted text and a way out are harmless one by one and dangerous together.
#
# Until a session has read untrusted text, it may write and send. From then on a call runs unasked
# only when every value that names a destination or a payload stands in the user's own words or in
# a trusted result; everything else is asked.
version: 1
taint: provenance
defaults:
  workspace_write: allow
  network_write: allow
  message_send: allow
rules:
  # A tool that nobody has described is taken for destructive: it is never run unasked.
  - id: lethal-trifecta/destructive
    flags: [destructive]
    effect: ask
"""
