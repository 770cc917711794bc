"""``python -m hopscale``: the command line."""

from hopscale.cli import main

if __name__ == "__main__":
    main(prog_name="hopscale")
