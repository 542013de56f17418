//! A site that imitates a recorded page: bodies of the right kind, size and references.
