"""Small services, each of which says its errors as a well-known framework or protocol does, and the
sins of each. None imports project code.
"""
