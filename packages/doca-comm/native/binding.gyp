{
  'targets': [
    {
      'target_name': 'verbs_doca_comm',
      'sources': [
        'binding/addon.cc',
        'binding/device.cc',
        'binding/endpoint.cc',
        'binding/environment.cc',
        'binding/library.cc',
        'binding/peer.cc',
        'binding/representor.cc',
        'binding/watcher.cc',
      ],
      # "_all" turns every C++ exception, std::bad_alloc too, into a JavaScript one.
      'dependencies': ["<!(node -p \"require('node-addon-api').targets\"):node_addon_api_except_all"],
      'include_dirs': ['include'],
      'defines': ['_GNU_SOURCE'],
      'cflags_cc!': ['-std=gnu++17', '-std=gnu++20', '-fno-rtti'],
      'cflags_cc': ['-std=c++20', '-Wall', '-Wextra', '-Wno-unused-parameter', '-fvisibility=hidden'],
      'libraries': ['-ldl'],
    },
  ],
}
