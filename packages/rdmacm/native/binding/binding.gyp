{
  'targets': [
    {
      'target_name': 'verbs_rdmacm',
      'sources': [
        'addon.cc',
        'address.cc',
        'addrinfo.cc',
        'channel.cc',
        'connection.cc',
        'device.cc',
        'event.cc',
        'id.cc',
        'library.cc',
        'multicast.cc',
        'queue_pair.cc',
      ],
      # Not by the package's own gyp target: that writes into its directory, which addons that are built at once share.
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
