"""A sum by SmartNoise's SQL at epsilon 1: smartnoise_sum.py TABLE ANSWERS"""
import sys
import warnings

import pandas
import snsql

warnings.simplefilter("ignore")
table = pandas.read_csv(sys.argv[1])
known = {"": {"": {"t": {"row_privacy": True, "censor_dims": False, "value": {"type": "float", "lower": 0.0, "upper": 1.0}}}}}
reader = snsql.from_df(table, privacy=snsql.Privacy(epsilon=1.0, delta=1e-6), metadata=known)
for _ in range(int(sys.argv[2])):
    print(repr(reader.execute("SELECT SUM(value) AS answer FROM t")[1][0]))
