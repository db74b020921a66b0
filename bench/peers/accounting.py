#!/usr/bin/env python3
"""brume beside dp_accounting, prv_accountant and autodp: same tasks, one run, rounds interleaved.

    accounting.py PROGRAM [ROUNDS]

PROGRAM is build/bench/accounting, which names the tasks. The truth is brume's certified interval; an
error is (reported - truth)/truth, and BELOW marks a claim under the certified lower end: privacy that
is not there.
"""
import contextlib
import io
import json
import re
import statistics
import subprocess
import sys
import time
import warnings

warnings.filterwarnings("ignore")


def terms_of(expression):
    """[(mechanism, parameters, count)] of an expression as the bench writes it."""
    found = []
    for term in re.split(r" \+ ", expression):
        call, _, count = term.partition(")*")
        name, _, inside = call.rstrip(")").partition("(")
        numbers = {key: float(value) for key, value in re.findall(r"(\w+)=([\d.e-]+)", inside)}
        found.append((name, numbers, int(count or 1)))
    return found


def dp_accounting_pld(terms, delta):
    from dp_accounting.pld import privacy_loss_distribution as pld
    total = None
    for name, p, count in terms:
        step = {"value_discretization_interval": 1e-4}
        if name == "laplace":
            one = pld.from_laplace_mechanism(p["scale"], **step)
        elif name == "gaussian":
            one = pld.from_gaussian_mechanism(p["sigma"], **step)
        elif name == "poisson":
            one = pld.from_gaussian_mechanism(p["sigma"], sampling_prob=p["rate"], **step)
        elif name == "randomized_response":
            import math
            one = pld.from_randomized_response(2 / (1 + math.exp(p["epsilon"])), 2, **step)
        elif name == "pure":
            from dp_accounting.pld import common
            one = pld.from_privacy_parameters(common.DifferentialPrivacyParameters(p["epsilon"], 0),
                                              **step)
        one = one.self_compose(count) if count > 1 else one
        total = one if total is None else total.compose(one)
    return total.get_epsilon_for_delta(delta)


def prv(terms, delta):
    import prv_accountant as prv
    mechanisms, counts = [], []
    for name, p, count in terms:
        if name == "laplace":
            mechanisms.append(prv.LaplaceMechanism(mu=1 / p["scale"]))
        elif name == "gaussian":
            mechanisms.append(prv.GaussianMechanism(noise_multiplier=p["sigma"]))
        elif name == "poisson":
            mechanisms.append(prv.PoissonSubsampledGaussianMechanism(
                noise_multiplier=p["sigma"], sampling_probability=p["rate"]))
        else:
            mechanisms.append(prv.PureDPMechanism(p["epsilon"]))
        counts.append(count)
    accountant = prv.PRVAccountant(prvs=mechanisms, max_self_compositions=counts, eps_error=0.01,
                                   delta_error=delta / 1000)
    return accountant.compute_epsilon(delta=delta, num_self_compositions=counts)[2]


def autodp_rdp(terms, delta):
    import math
    from autodp import mechanism_zoo as zoo
    from autodp import transformer_zoo
    mechanisms, counts = [], []
    for name, p, count in terms:
        if name == "laplace":
            one = zoo.LaplaceMechanism(b=p["scale"])
        elif name == "gaussian":
            one = zoo.GaussianMechanism(sigma=p["sigma"])
        elif name == "poisson":
            sample = transformer_zoo.AmplificationBySampling(PoissonSampling=True)
            one = sample(zoo.GaussianMechanism(sigma=p["sigma"]), p["rate"], improved_bound_flag=True)
        elif name == "randomized_response":
            one = zoo.RandresponseMechanism(p=1 / (1 + math.exp(-p["epsilon"])))
        else:
            one = zoo.PureDP_Mechanism(eps=p["epsilon"])
        mechanisms.append(one)
        counts.append(count)
    return transformer_zoo.Composition()(mechanisms, counts).get_approxDP(delta)


def dp_accounting_calibrate(terms, delta, epsilon):
    import dp_accounting
    from dp_accounting.pld import PLDAccountant
    if len(terms) != 1 or terms[0][0] != "gaussian" or terms[0][2] != 1:
        raise NotImplementedError("only the single Gaussian is compared")
    return dp_accounting.calibrate_dp_mechanism(
        PLDAccountant, lambda sigma: dp_accounting.GaussianDpEvent(sigma), epsilon, delta,
        tol=1e-9)


def autodp_calibrate(terms, delta, epsilon):
    from autodp import mechanism_zoo, calibrator_zoo
    if len(terms) != 1 or terms[0][0] != "gaussian" or terms[0][2] != 1:
        raise NotImplementedError("only the single Gaussian is compared")
    calibrate = calibrator_zoo.ana_gaussian_calibrator()
    return calibrate(mechanism_zoo.GaussianMechanism, epsilon, delta).params["sigma"]


PEERS = {"dp_accounting PLD 1e-4": dp_accounting_pld, "prv_accountant": prv,
         "autodp RDP": autodp_rdp}
CALIBRATORS = {"dp_accounting calibrate": dp_accounting_calibrate,
               "autodp calibrate": autodp_calibrate}


def once(peer, *arguments):
    """(seconds, value or None, what went wrong)"""
    start = time.perf_counter()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            value = float(peer(*arguments))
    except Exception as error:  # a peer that fails is a result
        return time.perf_counter() - start, None, f"{type(error).__name__}: {error}"[:60]
    return time.perf_counter() - start, value, ""


def brume(program, name):
    out = subprocess.run([program, "--json", name], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def report(task, times, values):
    mine = values["brume"]
    base = statistics.median(times["brume"])
    truth = (mine["lower"] + mine["upper"]) / 2
    print(f"\n{task['task']}: {truth:.12g}" + ("" if task["target"] else
          f"  certified to {(mine['upper'] - mine['lower']) / truth:.1e}"))
    print(f"  {'brume':26}{base * 1e6:12.0f} us")
    for name in [name for name in values if name != "brume"]:
        value, wrong = values[name]
        seconds = statistics.median(times[name])
        line = f"  {name:26}{seconds * 1e6:12.0f} us {seconds / base:10.0f} x slower  "
        if value is None:
            print(line + wrong)
            continue
        below = " BELOW THE TRUTH" if value < mine["lower"] * (1 - 1e-12) else ""
        if task["target"]:
            below = " TOO LITTLE NOISE" if value < truth * (1 - 2e-9) else ""
        print(f"{line}{value:.10g}  error {(value - truth) / truth:+.1e}{below}")


def main():
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    out = subprocess.run([program, "--json"], check=True, capture_output=True, text=True)
    tasks = [json.loads(line) for line in out.stdout.splitlines()]
    for peer in PEERS.values():  # imports are not measured
        once(peer, [("laplace", {"scale": 1.0}, 2)], 1e-3)
    for task in tasks:
        calibration = task["target"] > 0
        peers = CALIBRATORS if calibration else PEERS
        if calibration and not task["expression"] == "gaussian(sigma=?)":
            peers = {}
        text = task["expression"].replace("?", "1")
        arguments = (terms_of(text), task["delta"]) + ((task["target"],) if calibration else ())
        times = {name: [] for name in ["brume", *peers]}
        values = {}
        for _ in range(rounds):
            values["brume"] = brume(program, task["task"])
            times["brume"].append(values["brume"]["seconds"])
            for name, peer in peers.items():
                seconds, value, wrong = once(peer, *arguments)
                times[name].append(seconds)
                values[name] = (value, wrong)
        report(task, times, values)


if __name__ == "__main__":
    main()
