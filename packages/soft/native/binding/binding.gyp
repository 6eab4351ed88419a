{
  'targets': [
    {
      'target_name': 'verbs_soft',
      'sources': ['addon.cc'],
      # Not by the package's own gyp target: that writes into its directory, which addons that are built at once share.
      'include_dirs': ["<!(node -p \"require('node-addon-api').include_dir\")"],
      # "_ALL" turns every C++ exception, std::bad_alloc too, into a JavaScript one.
      # "SWALLOW": a worker that is being terminated takes no exception any more, which must not end the process.
      'defines': ['NAPI_CPP_EXCEPTIONS', 'NODE_ADDON_API_CPP_EXCEPTIONS_ALL',
                  'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS'],
      'cflags_cc!': ['-std=gnu++17', '-std=gnu++20', '-fno-rtti', '-fno-exceptions'],
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
