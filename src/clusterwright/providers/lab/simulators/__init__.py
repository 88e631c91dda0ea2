"""Programs that answer as the vendors' do, from a lab node's state file. They run in the node, on its own
Python, so nothing here imports anything but the standard library and its neighbours.
"""
