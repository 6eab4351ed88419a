{
  'targets': [
    {
      'target_name': 'verbs_soft',
      'sources': ['addon.cc'],
      # "_all" turns every C++ exception, std::bad_alloc too, into a JavaScript one.
      'dependencies': ["<!(node -p \"require('node-addon-api').targets\"):node_addon_api_except_all"],
      'cflags_cc!': ['-std=gnu++17', '-std=gnu++20', '-fno-rtti'],
      'cflags_cc': ['-std=c++20', '-Wall', '-Wextra', '-Wno-unused-parameter', '-fvisibility=hidden'],
      # The very NIC that the libibverbs of this package uses: it is found beside the addon.
      'libraries': ['-L<(module_root_dir)/../../build/lib', '-l:libverbs-soft-nic.so.1'],
      'ldflags': ["-Wl,-rpath,'$$ORIGIN'"],
    },
    {
      'target_name': 'place',
      'type': 'none',
      'dependencies': ['verbs_soft'],
      'copies': [
        { 'destination': '<(module_root_dir)/../../build/lib', 'files': ['<(PRODUCT_DIR)/verbs_soft.node'] },
      ],
    },
  ],
}
