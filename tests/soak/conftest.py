"""The parts of the soak run are scripts as well, and import each other by their plain names."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
