"""The textbook's Laplace noise, made of doubles, on a sum at epsilon 1: doubles_sum.py TABLE ANSWERS"""
import csv
import math
import random
import sys

total = sum(float(row["value"]) for row in csv.DictReader(open(sys.argv[1], encoding="utf-8")))
source = random.SystemRandom()
for _ in range(int(sys.argv[2])):
    noise = math.log(1 - source.random())
    print(repr(total + noise if source.random() < 0.5 else total - noise))
