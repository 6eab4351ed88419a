{
  'targets': [
    {
      'target_name': 'verbs_mlx5',
      'sources': [
        'addon.cc',
        'crypto.cc',
        'device.cc',
        'devx/devx.cc',
        'devx/devx_memory.cc',
        'dr/actions.cc',
        'dr/dr.cc',
        'flow.cc',
        'internals.cc',
        'library.cc',
        'queues.cc',
      ],
      'include_dirs': [
        '..',
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
