{
  'targets': [
    {
      'target_name': 'verbs_hbl',
      'sources': [
        'addon.cc',
        'collective.cc',
        'device.cc',
        'encap.cc',
        'library.cc',
        'queues.cc',
        'usr_fifo.cc',
      ],
      'include_dirs': [
        '..',
        '../include',
        "<!(node -p \"require('node:path').join(require.resolve('@verbs/core/package.json'), '../native/include')\")",
      ],
      'defines': ['NAPI_VERSION=9', '_GNU_SOURCE'],
      # A failed allocation is a C++ exception, which the addon turns into a JavaScript one.
      'cflags_cc!': ['-std=gnu++17', '-std=gnu++20', '-fno-rtti', '-fno-exceptions'],
      'cflags_cc': ['-std=c++20', '-Wall', '-Wextra', '-Wno-missing-field-initializers', '-fvisibility=hidden'],
      'libraries': ['-ldl'],
    },
  ],
}
