"""A count by OpenDP's Laplace mechanism at epsilon 1: opendp_count.py TABLE ANSWERS"""
import csv
import sys

import opendp.prelude as dp

dp.enable_features("contrib")
values = [float(row["value"]) for row in csv.DictReader(open(sys.argv[1], encoding="utf-8"))]
space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
count = space >> dp.t.then_count() >> dp.m.then_laplace(scale=1.0)
for _ in range(int(sys.argv[2])):
    print(count(values))
