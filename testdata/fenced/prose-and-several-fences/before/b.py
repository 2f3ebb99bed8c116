from a import *
print(OLD)
