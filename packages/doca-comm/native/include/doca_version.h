/* The release of DOCA (libdoca_common). */
#ifndef DOCA_VERSION_H_
#define DOCA_VERSION_H_

#ifdef __cplusplus
extern "C" {
#endif

/* The release of DOCA that the library has the functions of: "major.minor.patch". */
const char *doca_version_runtime(void);

#ifdef __cplusplus
}
#endif

#endif
