"""Two believable, timestamped streams for every kind of join: recorded, disordered, late and idle as asked for.

>>> import generators
>>> orders, payments = generators.generate("orders_payments", events=100, seed=7)
>>> orders
<Stream orders: 100 rows in 10 micro-batches, key 'order_id', time 'ordered_at', watermark '10 seconds'>
"""

from __future__ import annotations

from generators._feed import Feed
from generators._files import write
from generators._generate import generate, scenarios
from workbench.recording import load, save

__all__ = ["Feed", "generate", "load", "save", "scenarios", "write"]
