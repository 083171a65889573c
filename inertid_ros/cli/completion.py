"""`inertid completion`: what a shell has to know to complete commands and options, generated from them."""

from __future__ import annotations

import argparse
import sys

from inertid_ros.cli.command import OK, Command

_SCRIPT = """\
# Completes inertid in bash and zsh: source <(inertid completion)
if [ -n "${{ZSH_VERSION-}}" ]; then
    autoload -U +X compinit bashcompinit
    whence compdef >/dev/null || compinit
    bashcompinit
fi
_inertid() {{
    local words=""
    if ((COMP_CWORD == 1)); then
        words="{commands}"
    else
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _inertid inertid
"""


def print_completion(_: argparse.Namespace) -> int:
    """Print the script."""
    from inertid_ros.cli.main import COMMANDS

    sys.stdout.write(format_completion(COMMANDS))
    return OK


def format_completion(commands: tuple[Command, ...]) -> str:
    """The script for bash: names of commands, then options and choices of the one that is typed; files otherwise."""
    cases = "\n".join(
        f'            {command.name}) words="{" ".join(_list_words(command))}" ;;' for command in commands
    )
    return _SCRIPT.format(commands=" ".join(command.name for command in commands), cases=cases)


def _list_words(command: Command) -> list[str]:
    names = [name for option in command.options for name in option.names if name.startswith("-")]
    choices = [str(choice) for option in command.options for choice in option.keywords.get("choices", ())]
    return [*names, "--help", *(["--ros-args"] if command.takes_ros_arguments else []), *dict.fromkeys(choices)]
