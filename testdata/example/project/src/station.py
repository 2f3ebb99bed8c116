"""Reads the sensors and serves them."""

from config import RETRIES, address


def read(sensor):
    for attempt in range(RETRIES):
        value = sensor.read()
        if value is not None:
            return value
    return None


def serve(host):
    print("serving on", address(host))
