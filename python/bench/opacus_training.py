"""Three epochs of private training on generated data with Opacus, accounted by brume, PRV and RDP.

Prints, for each accountant, epsilon at delta 1e-5 after training and the processor time that asking took, the
best of five. Needs torch and opacus.
"""

import time
import warnings

import torch
from opacus import PrivacyEngine
from opacus.accountants import create_accountant

import brume

DELTA = 1e-5


def train(accountant):
    """Train a small classifier; give the engine back, whose accountant has seen every step."""
    torch.manual_seed(3)
    inputs = torch.randn(2000, 8)
    labels = (inputs[:, 0] + 0.3 * torch.randn(2000) > 0).long()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, labels), batch_size=50)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    engine = PrivacyEngine(accountant=accountant)
    model, optimizer, loader = engine.make_private(
        module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.1, max_grad_norm=1.0)
    for _ in range(3):
        for batch, wanted in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(batch), wanted).backward()
            optimizer.step()
    with torch.no_grad():
        right = (model(inputs).argmax(1) == labels).float().mean().item()
    return engine, right


def compare(history):
    """Epsilon and milliseconds of processor time of each accountant for the same history."""
    rows = []
    for name in ("brume", "prv", "rdp"):
        accountant = create_accountant(name)
        accountant.history = list(history)
        best = min(timed(accountant) for _ in range(5))
        rows.append((name, accountant.get_epsilon(delta=DELTA), best))
    return rows


def timed(accountant):
    began = time.process_time()
    accountant.get_epsilon(delta=DELTA)
    return (time.process_time() - began) * 1e3


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    brume.opacus.register()
    engine, right = train("brume")
    steps = len(engine.accountant)
    print(f"{steps} steps, {right:.0%} of the training data right, epsilon at delta {DELTA:g}\n")
    print("| accountant | epsilon | milliseconds |\n|---|---|---|")
    for name, epsilon, milliseconds in compare(engine.accountant.history):
        print(f"| {name} | {epsilon:.6f} | {milliseconds:.2f} |")
