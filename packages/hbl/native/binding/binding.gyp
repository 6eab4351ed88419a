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
        "<!(node -p \"require('node-addon-api').include_dir\")",
      ],
      # Other settings are in provider/napi_setup.h. Every C++ exception becomes a JavaScript one.
      'defines': ['NAPI_VERSION=9'],
      'cflags_cc!': ['-std=gnu++17', '-std=gnu++20', '-fno-rtti', '-fno-exceptions'],
      'cflags_cc': ['-std=c++20', '-Wall', '-Wextra', '-Wno-missing-field-initializers', '-fvisibility=hidden'],
      'libraries': ['-ldl'],
    },
  ],
}
