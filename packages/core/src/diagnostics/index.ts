// The package's reports about itself: diagnostics channels, their messages, and the log of NODE_DEBUG=verbs. Nothing
// here does anything unless a program subscribes.
