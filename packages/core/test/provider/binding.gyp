{
  'targets': [
    {
      # An addon of another package, as far as this package can tell: plain C, and nothing of ours but the header.
      'target_name': 'provider',
      'sources': ['provider.c'],
      'include_dirs': ['../../native/include'],
      'cflags': ['-std=c11', '-Wall', '-Wextra'],
      'defines': ['NAPI_VERSION=9'],
    },
  ],
}
