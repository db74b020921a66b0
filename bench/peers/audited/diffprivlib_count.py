"""A count by diffprivlib's Laplace mechanism at epsilon 1: diffprivlib_count.py TABLE ANSWERS"""
import csv
import sys

from diffprivlib.mechanisms import Laplace

values = [float(row["value"]) for row in csv.DictReader(open(sys.argv[1], encoding="utf-8"))]
noisy = Laplace(epsilon=1.0, sensitivity=1.0)
for _ in range(int(sys.argv[2])):
    print(repr(float(noisy.randomise(float(len(values))))))
