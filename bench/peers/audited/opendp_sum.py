"""A sum of clamped values by OpenDP's Laplace mechanism at epsilon 1: opendp_sum.py TABLE ANSWERS"""
import csv
import sys

import opendp.prelude as dp

dp.enable_features("contrib")
values = [float(row["value"]) for row in csv.DictReader(open(sys.argv[1], encoding="utf-8"))]
space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
sum_of = space >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum()
release = dp.binary_search_chain(lambda scale: sum_of >> dp.m.then_laplace(scale), d_in=1, d_out=1.0)
for _ in range(int(sys.argv[2])):
    print(repr(release(values)))
