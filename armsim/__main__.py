"""`python -m armsim`"""

from armsim.cli.main import main

main()
