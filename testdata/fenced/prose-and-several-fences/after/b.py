from a import *
print(NEW)
