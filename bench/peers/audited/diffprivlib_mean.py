"""diffprivlib's mean at epsilon 1 (neighbours differ in one row): diffprivlib_mean.py TABLE ANSWERS"""
import csv
import sys
import warnings

from diffprivlib.tools import mean

warnings.simplefilter("ignore")
values = [float(row["value"]) for row in csv.DictReader(open(sys.argv[1], encoding="utf-8"))]
for _ in range(int(sys.argv[2])):
    print(repr(float(mean(values, epsilon=1.0, bounds=(0, 1)))))
