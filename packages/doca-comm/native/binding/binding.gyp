{
  'targets': [
    {
      'target_name': 'verbs_doca_comm',
      'sources': [
        'addon.cc',
        'background_call.cc',
        'comch/context.cc',
        'comch/end.cc',
        'comch/end_calls.cc',
        'comch/engine.cc',
        'comch/engine_calls.cc',
        'comch/mmap.cc',
        'comch/path.cc',
        'device.cc',
        'endpoint.cc',
        'library.cc',
        'peer.cc',
        'representor.cc',
      ],
      # Not by the package's own gyp target: that writes into its directory, which addons that are built at once share.
      'include_dirs': [
        '..',
        '../include',
        "<!(node -p \"require('node:path').join(require.resolve('@verbs/core/package.json'), '../native/include')\")",
        "<!(node -p \"require('node-addon-api').include_dir\")",
      ],
      # Other settings are in provider/napi_setup.h. Every C++ exception becomes a JavaScript one.
      'defines': ['NAPI_VERSION=9'],
      'cflags_cc!': ['-std=gnu++17', '-std=gnu++20', '-fno-rtti', '-fno-exceptions'],
      'cflags_cc': ['-std=c++20', '-Wall', '-Wextra', '-Wno-unused-parameter', '-fvisibility=hidden'],
      'libraries': ['-ldl'],
    },
  ],
}
