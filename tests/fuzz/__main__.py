import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests import each other by their plain names

from fuzz.runner import main

main()
