// Faults of the program's own, which it recovers from by a handler, as just-in-time compilers do. Others that share the
// signal have handlers as well, and pass on what is not theirs.
#pragma once

// Once; further calls do nothing.
void faults_install(void);
// Faults ten times. Returns how often it has recovered.
int faults_try(void);
