"""`inertid`: the nodes, the demonstrations and the offline tools, for machines with and without the `ros2` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import takewhile

from inertid_ros.cli.command import (
    ARM,
    BAG,
    BAGS,
    CARRIED,
    EITHER,
    ESTIMATE,
    ESTIMATOR,
    GRAVITY,
    JSON,
    LIBRARY,
    PRINTED,
    REMAP,
    ROBOT,
    SAFETY,
    SOURCES,
    SPAN,
    YES,
    Command,
    Option,
    file_option,
    make_parser,
    option,
    output,
    params,
    run_command,
    urdf,
)
from inertid_ros.view.server import PORT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    return run_command(parse(sys.argv[1:] if arguments is None else arguments))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Options of a command; --ros-args and all that follows are for ROS."""
    own = list(takewhile(lambda argument: argument != "--ros-args", arguments))
    parser = make_parser(COMMANDS)
    options = parser.parse_args(own)
    options.ros_arguments = list(arguments[len(own) :])
    if options.ros_arguments and not options.takes_ros_arguments:
        parser.error(f"unrecognized arguments: {' '.join(options.ros_arguments)}")
    return options


def _resolution(text: str) -> int:
    """Read dots per inch."""
    if not text.isdecimal() or not 20 <= int(text) <= 1200:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 20 to 1200")
    return int(text)


COMMANDS = (
    Command(
        "node",
        "live.run_estimator",
        "run the estimator beside a driver",
        "Run the ROS 2 node `inertid` (the same as `ros2 run inertid_ros estimator`). ROS arguments follow, such as: "
        "--ros-args --params-file my_arm.yaml -r wrench:=/ft_sensor/wrench",
        takes_ros_arguments=True,
    ),
    Command(
        "driver",
        "live.run_driver",
        "run the simulated driver",
        "Run the ROS 2 node `simulated_driver`, which stands in for a robot. ROS arguments follow.",
        takes_ros_arguments=True,
    ),
    Command(
        "demo",
        "live.run_demo",
        "watch a simulated PUMA identify what it picks up, or a simulated direct drive arm its own links",
        "Run simulated driver and estimator as two ROS 2 processes and watch the estimate converge. Ends by itself "
        "within a minute; the exit code is 0 if the truth is inside the stated uncertainty.",
        (
            option(
                "robot",
                nargs="?",
                choices=("puma560", "ddarm"),
                default="puma560",
                help="puma560 identifies a load (the default), ddarm its links",
            ),
            option("--view", action="store_true", help="serve a page that shows it as well, as `inertid view` does"),
        ),
    ),
    Command(
        "guide",
        "guide.run",
        "be led through identifying a payload",
        "Lead through identifying what a robot carries, step by step, on the live data of any driver: checks of "
        "topics, rates, sign, frame and sensor; poses chosen by what is not known yet; capturing the tool; attaching "
        "the load; verdict, file, and lines to paste elsewhere. The robot is moved by you, or by your program. Uses "
        "the estimator that is running, else starts one. ROS arguments follow, those of `inertid node`.",
        (
            option("--tool", action="store_true", help="identify the bare tool first, then the load without it"),
            YES,
            option("--json", action="store_true", help="one JSON object per line instead of a screen"),
            ESTIMATOR,
        ),
        takes_ros_arguments=True,
    ),
    Command(
        "view",
        "view.run",
        "see robot, load and estimate in a browser",
        "Serve a page, for this machine alone, that shows robot, load with its uncertainty, wrenches, plots, states "
        "and findings of a running estimator, with buttons for its services and the guide; or of a bag, which is "
        "replayed first, with a time slider. Needs viser (the extra `view`). ROS arguments follow, if there is no bag.",
        (
            Option(BAG.names, {**BAG.keywords, "nargs": "?", "help": f"{BAG.keywords['help']} (default: live)"}),
            option("--port", type=int, default=PORT, metavar="N", help=f"of the page (default {PORT})"),
            ESTIMATOR,
            params(),
            urdf(),
            *SPAN,
            REMAP,
        ),
        takes_ros_arguments=True,
    ),
    Command(
        "params",
        "export.print_parameters",
        "print all parameters",
        "Print every parameter of the node as a commented YAML file.",
        (
            option("--markdown", group=EITHER, action="store_true", help="as a Markdown table instead"),
            option(
                "--driver", group=EITHER, action="store_true", help="those of the simulated driver, as a Markdown page"
            ),
        ),
    ),
    Command(
        "config",
        "export.write_configuration",
        "write a parameter file for a robot or sensor of a known vendor",
        "Write a commented parameter file that suits the ROS 2 driver of a robot, of a wrist sensor, or of both.",
        (
            option("robot", nargs="?", default="", metavar="ROBOT", help="such as ur10e"),
            option("--sensor", default="", metavar="NAME", help="sensor mounted on it, such as ati"),
            option("--list", action="store_true", help="list all names"),
            PRINTED,
        ),
    ),
    Command(
        "replay",
        "replay.replay",
        "identify from recordings",
        "Replay bags through the same chain as the node's, far faster than they were recorded, and write "
        "estimate.json, predictions.mcap and report.html. A bag that begins at most 10 s after the end of the one "
        "before continues it. Others are recordings of their own: they are replayed in parallel, each into its own "
        "directory, and their information is added up in estimate.json; report.html compares them.",
        (
            BAGS,
            params(),
            urdf(),
            output("DIR", "directory to write to"),
            option("--force", action="store_true", help="overwrite what another replay has written there"),
            file_option(
                "--validate",
                nargs="+",
                default=[],
                metavar="BAG",
                help="predict these bags with what was identified, as inertid validate does; the verdict takes it into "
                "account",
            ),
            option(
                "--self-contained",
                action="store_true",
                help="put plotly.js (5 MB) into report.html, to be mailed; else it is beside it, once in the directory",
            ),
            *SPAN,
            REMAP,
            option("--jobs", type=int, metavar="N", help="recordings at the same time (default: one per processor)"),
            option(
                "--scheduler",
                default="",
                metavar="ADDRESS",
                help="replay on the workers of a Dask cluster: tcp://HOST:PORT of its scheduler, or local for one on "
                "this machine with --jobs workers; what a killed worker had begun is begun again. Needs the extra "
                "`cluster`",
            ),
        ),
    ),
    Command(
        "validate",
        "replay.validate",
        "see how well an estimate predicts another recording",
        "Predict the wrenches, efforts or base wrenches of bags with the frozen parameters of an estimate, and "
        "print the residual: its rms, relative to the rms of what was measured, and relative to the residual of the "
        "URDF's own parameters. For a load, the wrench without the bias counts, and since wrist sensors are tared "
        "between recordings, the first number is with a constant fitted to each channel of the bags, the second with "
        "the bias of the estimate, nothing fitted. For links, both sides are filtered as in the replay, and nothing is "
        "fitted. Settings and topics are those of the replay.",
        (ESTIMATE, BAGS, params("as in the replay"), urdf("as in the replay, else in the bag"), JSON, *SPAN, REMAP),
    ),
    Command(
        "export-urdf",
        "export.write_urdf",
        "write an identified arm as a URDF",
        "Write the identified links of an estimate into the URDF it was made with. Only <inertial> and <dynamics> "
        "change; every link is physically consistent, and the file is checked to predict the torques of the estimate. "
        "What URDF has no element for (rotor inertia, offsets) is printed.",
        (ESTIMATE, urdf("as in the replay"), output("FILE", "file to write")),
    ),
    Command(
        "csv",
        "export.write_table",
        "write an estimate as a table",
        "Write the parameters of an estimate as comma-separated values, in SI units: value, standard deviation, 95 % "
        "interval, repeatability and state of each.",
        (ESTIMATE, PRINTED),
    ),
    Command(
        "plot",
        "export.plot",
        "draw an estimate into a PNG file",
        "Draw the ten parameters of a load with their 95 % intervals, and its ellipsoid from three sides; for links, "
        "the base parameters and the residual of each channel. If an estimate has both, the links go into a second "
        "file, FILE_links.",
        (
            ESTIMATE,
            file_option("--png", required=True, help="file to write"),
            option(
                "--dpi", type=_resolution, default=200, metavar="N", help="dots per inch (default 200, 9 inches wide)"
            ),
        ),
    ),
    Command(
        "excite",
        "excite.run",
        "design a motion that identifies a load or the links as well as possible",
        "Design a periodic motion, from rest to rest within all limits, that brings as much information on a load or "
        "on the arm's own links as possible in the given time. Writes trajectory.csv, and a bag and YAML with a "
        "trajectory_msgs/JointTrajectory, and prints the standard deviations to expect. No part of the arm gets closer "
        "than a margin to the floor, to boxes that are named, or to other links; what is not named is not seen.",
        (
            ROBOT,
            option("--target", choices=("load", "links"), required=True, help="what is to be identified"),
            output("DIR", "directory to write to"),
            file_option(
                "--limits",
                help="YAML that narrows the URDF's limits: joints: {NAME: {lower, upper, velocity, acceleration, "
                "effort}}, in rad (or m) and seconds. Without it a joint may reach its full speed in 0.5 s",
            ),
            file_option(
                "--start",
                metavar="ESTIMATE",
                help="what is known already: estimate.json of a replay (for a load also the file of ~/save)",
            ),
            option("--duration", type=float, default=10.0, metavar="S", help="duration of the motion [s] (default 10)"),
            GRAVITY,
            option(
                "--candidates",
                type=int,
                metavar="N",
                help="how many motions to compare (default: as many as take about half a minute)",
            ),
            option("--seed", type=int, default=0, metavar="N", help="of the random start of the search (default 0)"),
            option(
                "--force-noise",
                type=float,
                metavar="D",
                help="density of the sensor's force noise [N/sqrt(Hz)] (default: 0.1 N at 200 Hz, 1 N under a base)",
            ),
            option(
                "--torque-noise",
                type=float,
                metavar="D",
                help="density of the sensor's moment noise [Nm/sqrt(Hz)] (default: 5 mNm at 200 Hz, 0.1 Nm under a "
                "base)",
            ),
            *SAFETY,
            option(
                "--sensor-frame", group="load", metavar="FRAME", help="where the wrench is measured (default ft_sensor)"
            ),
            option(
                "--source",
                group="links",
                choices=SOURCES,
                help="what is measured: the joints' efforts (default), the wrench under the base, or both",
            ),
            option(
                "--joints",
                group="links",
                nargs="+",
                metavar="NAME",
                help="the joints of the arm (default: all that do not mimic another)",
            ),
            option(
                "--effort-noise",
                group="links",
                type=float,
                nargs="+",
                metavar="D",
                help="density of the efforts' noise [Nm/sqrt(Hz)], one for all joints or one for each in the order of "
                "the URDF (default: 0.5 %% of the effort limit at 200 Hz, 0.5 Nm where there is none)",
            ),
        ),
    ),
    Command(
        "move",
        "move.run",
        "let a controller follow a checked motion, under supervision",
        "Let a controller follow a motion through the action FollowJointTrajectory: a safe approach first, then the "
        "motion slowly, then at the speed asked for. All of it is proved to keep clear of floor, boxes and the arm "
        "itself before anything moves, and each part is asked for. Stops on tracking error, contact (while an "
        "estimator is running), ends of joints, and silence. ROS arguments follow.",
        (
            file_option("motion", metavar="MOTION", help="directory of inertid excite, YAML, or a bag"),
            option("--scale", type=float, default=0.3, metavar="S", help="share of the motion's speed (default 0.3)"),
            option(
                "--action",
                default="joint_trajectory_controller/follow_joint_trajectory",
                metavar="NAME",
                help="of the controller (default joint_trajectory_controller/follow_joint_trajectory)",
            ),
            option(
                "--tolerance",
                type=float,
                default=0.1,
                metavar="A",
                help="tracking error to stop at [rad] (default 0.1)",
            ),
            file_option("--limits", help="YAML that narrows the URDF's limits, as for inertid excite"),
            GRAVITY,
            YES,
            ESTIMATOR,
            *SAFETY[1:],
        ),
        takes_ros_arguments=True,
    ),
    Command(
        "feedforward",
        "control.feedforward",
        "fill in the efforts of a trajectory by the identified arm",
        "Fill in the efforts that a trajectory_msgs/JointTrajectory takes, for a controller to feed forward, and their "
        "standard deviations. Writes trajectory.yaml, a bag with the message, and trajectory.csv with the deviations. "
        "Refused are trajectories beyond the limits of the robot description, and joints whose parameters are not "
        "known for this motion.",
        (
            file_option(
                "trajectory",
                metavar="TRAJECTORY",
                help="YAML as `ros2 topic echo` writes it, a bag, or a directory of inertid excite",
            ),
            ARM,
            *CARRIED,
            output("DIR", "directory to write to"),
        ),
    ),
    Command(
        "practise",
        "control.practise",
        "correct the efforts of a trajectory by what came of them",
        "Learn from trials of one trajectory, each a bag of joint_states, with velocity and what the motors were told, "
        "and of the trajectory that was sent, with its efforts. Writes the trajectory with the efforts for the next "
        "trial, and practice.html with errors and commands trial by trial. Says when the error is at the noise, and "
        "when practice does not help because the model is wrong.",
        (
            BAGS,
            ARM,
            *CARRIED,
            option(
                "--decoupled",
                action="store_true",
                help="learn by joints that know nothing of each other, to see what a simplified model costs",
            ),
            output("DIR", "directory to write to"),
            REMAP,
        ),
    ),
    Command(
        "identifiability",
        "identifiability.run",
        "see which parameters of the links can be identified at all",
        "Find from a URDF alone which inertial parameters of the links some motion could identify, which only in "
        "combinations, and which not at all.",
        (
            ROBOT,
            option("--source", choices=SOURCES, default="effort", help="what is measured (default effort)"),
            option(
                "--joints",
                nargs="+",
                default=[],
                metavar="NAME",
                help="joints that move (default: all that do not mimic another); others count as fixed",
            ),
            GRAVITY,
            JSON,
        ),
    ),
    Command(
        "reactions",
        "replay.react",
        "identify masses and first moments of the links from poses at rest on a base sensor",
        "Find poses at rest in bags of joint_states and base_wrench, and print the masses and first moments that they "
        "identify, alone or in combinations, the condition number, and the best pose to add. The base may be tilted "
        "differently in each bag.",
        (
            BAGS,
            params(),
            urdf(),
            option(
                "--gravity",
                group=EITHER,
                nargs=3,
                type=float,
                action="append",
                default=[],
                metavar=("X", "Y", "Z"),
                help="gravity in the root frame [m/s^2], once for all bags or once per bag (default: that of the "
                "parameters)",
            ),
            option(
                "--gravity-from-force",
                group=EITHER,
                action="store_true",
                help="take its direction from the force of an offset-free sensor",
            ),
            option("--no-offset", action="store_true", help="the sensor was zeroed without the robot on it"),
            file_option("--poses", help="write the poses for links.static_file"),
            JSON,
            REMAP,
        ),
    ),
    Command(
        "weigh",
        "replay.weigh",
        "identify a load from joint efforts, without a wrist sensor",
        "Identify the load that the arm carries in bags of joint_states with effort. The arm itself must have been "
        "identified before, without the load: by inertid replay with estimators [links], or live by ~/save.",
        (
            BAGS,
            file_option("--arm", help="estimate.json or YAML of the arm (load.arm_file)"),
            option("--frame", metavar="FRAME", help="frame the load is fixed to (load.sensor_frame)"),
            params("all defaults; use the one the arm was identified with"),
            urdf(),
            *SPAN,
            REMAP,
            JSON,
        ),
    ),
    Command(
        "object",
        "objects.keep",
        "keep a library of objects that are to be recognised",
        "Add the load of an estimate to a library of objects, or list what the library has. The object's frame has the "
        "axes of the sensor frame, and its origin at a point of it, best where the fingers are.",
        (
            option("action", choices=("add", "list"), help="add NAME ESTIMATE, or list all"),
            option("name", nargs="?", metavar="NAME", help="what to call the object"),
            Option(ESTIMATE.names, {**ESTIMATE.keywords, "nargs": "?"}),
            LIBRARY,
            option(
                "--origin",
                nargs=3,
                type=float,
                default=[0.0, 0.0, 0.0],
                metavar=("X", "Y", "Z"),
                help="where the fingers hold it, in the sensor frame [m] (default: the sensor's origin)",
            ),
        ),
    ),
    Command(
        "recognise",
        "objects.recognise",
        "name what is held, and check its grip",
        "Compare the load of estimates, or that of bags, with the objects of a library, and print the probability of "
        "each and how it is held. With --expect, say whether that object is held as expected, has slipped, is upside "
        "down, or lacks a part.",
        (
            file_option("inputs", metavar="INPUT", nargs="+", help="estimates, or bags of one load"),
            file_option("--library", metavar="DIR", help="directory (default: objects.library, or objects)"),
            option("--expect", dest="expected", metavar="NAME", help="the object that should be held"),
            option(
                "--grip",
                dest="expected_grip",
                nargs=6,
                type=float,
                metavar=("X", "Y", "Z", "ROLL", "PITCH", "YAW"),
                help="where its frame should be in the sensor frame [m, rad] (default: where it was when it was added, "
                "on the same sensor)",
            ),
            params(),
            urdf(),
            *SPAN,
            REMAP,
            JSON,
        ),
    ),
    Command(
        "publish",
        "live.publish",
        "play a bag into ROS with /clock",
        "Publish all messages of a bag as they were recorded, and the time of recording on /clock: run nodes with "
        "use_sim_time. Where `ros2 bag` is installed, `ros2 bag play --clock` does the same.",
        (
            BAG,
            option("--rate", type=float, default=1.0, metavar="R", help="times real time (default 1)"),
            option("--loop", action="store_true", help="start again at the end, until Ctrl-C"),
        ),
    ),
    Command(
        "completion",
        "completion.print_completion",
        "print a script that completes commands and options in a shell",
        "Print a script for bash and zsh that completes commands and options: source <(inertid completion)",
    ),
)
"""Every command with its options, in the order of --help."""


if __name__ == "__main__":
    sys.exit(main())
