// The parser of arguments. It keeps one program, as its functions take none. Devices as arguments, commands and JSON
// files are not there: NOT_SUPPORTED.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "doca_argp.h"
#include "model/base/boundary.h"

using verbs::doca_comm::model::contained;

struct doca_argp_param {
  std::string short_name, long_name, arguments, description;
  doca_argp_param_cb_t callback = nullptr;
  doca_argp_type type = DOCA_ARGP_TYPE_UNKNOWN;
  bool mandatory = false;
  bool many = false;
  bool seen = false;
};

namespace {

struct Program {
  std::string name;
  void* config = nullptr;
  std::vector<std::unique_ptr<doca_argp_param>> parameters;
  doca_argp_param_cb_t version = nullptr;
  doca_argp_validation_cb_t validation = nullptr;
  int log_level = DOCA_LOG_LEVEL_INFO;
  int sdk_log_level = DOCA_LOG_LEVEL_WARNING;
};
Program* program = nullptr;

// What the library itself knows.
doca_error_t set_log_level(void* level, void*) {
  program->log_level = *static_cast<int*>(level);
  return doca_log_level_set_global_lower_limit(static_cast<std::uint32_t>(program->log_level));
}
doca_error_t set_sdk_log_level(void* level, void*) {
  program->sdk_log_level = *static_cast<int*>(level);
  return DOCA_SUCCESS;
}
doca_error_t show_help(void*, void*) {
  doca_argp_usage();
  return DOCA_SUCCESS;
}
doca_error_t show_version(void*, void* config) {
  if (program->version) return program->version(nullptr, config);
  std::printf("%s\n", program->name.c_str());
  std::exit(0);
}
doca_error_t refuse_json(void*, void*) {
  std::fprintf(stderr,
               "%s: a JSON file of arguments is not supported by this libdoca_argp: pass them on the command line\n",
               program->name.c_str());
  return DOCA_ERROR_NOT_SUPPORTED;
}

void add(const char* short_name, const char* long_name, const char* arguments, const char* description,
         doca_argp_type type, doca_argp_param_cb_t callback) {
  auto created = std::make_unique<doca_argp_param>();
  created->short_name = short_name;
  created->long_name = long_name;
  created->arguments = arguments;
  created->description = description;
  created->type = type;
  created->callback = callback;
  program->parameters.push_back(std::move(created));
}

doca_argp_param* find(const std::string& name, std::string doca_argp_param::* which) {
  for (const auto& each : program->parameters) {
    if (!name.empty() && (*each).*which == name) return each.get();
  }
  return nullptr;
}

doca_error_t refuse(const std::string& why, doca_error_t error) {
  std::fprintf(stderr, "%s: %s; --help shows the flags\n", program->name.c_str(), why.c_str());
  return error;
}

template <typename Number>
doca_error_t call_with_number(const doca_argp_param& parameter, const std::string& flag, const std::string& value) {
  Number number{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size()) {
    return refuse(flag + " takes a number, and got \"" + value + "\"", DOCA_ERROR_INVALID_VALUE);
  }
  return parameter.callback(&number, program->config);
}

doca_error_t call(const doca_argp_param& parameter, const std::string& flag, std::string value) {
  switch (parameter.type) {
    case DOCA_ARGP_TYPE_STRING:
      return parameter.callback(value.data(), program->config);
    case DOCA_ARGP_TYPE_INT:
      return call_with_number<int>(parameter, flag, value);
    case DOCA_ARGP_TYPE_DOUBLE:
      return call_with_number<double>(parameter, flag, value);
    default: {
      bool yes = value != "false";
      if (!value.empty() && value != "true" && value != "false") {
        return refuse(flag + " takes true or false, and got \"" + value + "\"", DOCA_ERROR_INVALID_VALUE);
      }
      return parameter.callback(&yes, program->config);
    }
  }
}

// Reads the flag at argv[*i], and its value, which may be the next argument.
doca_error_t read_flag(int argc, char** argv, int* i) {
  const std::string argument = argv[*i];
  const bool is_long = argument.rfind("--", 0) == 0;
  if (argument.size() < 2 || argument[0] != '-')
    return refuse("\"" + argument + "\" is no flag", DOCA_ERROR_INVALID_VALUE);
  std::string name = argument.substr(is_long ? 2 : 1), value;
  bool has_value = false;
  if (const std::size_t at = name.find('='); at != std::string::npos) {
    value = name.substr(at + 1);
    name.resize(at);
    has_value = true;
  }
  doca_argp_param* parameter = find(name, is_long ? &doca_argp_param::long_name : &doca_argp_param::short_name);
  if (!parameter && !is_long && name.size() > 1 && !has_value) {  // -xVALUE
    parameter = find(name.substr(0, 1), &doca_argp_param::short_name);
    value = name.substr(1);
    has_value = true;
  }
  if (!parameter) return refuse("there is no flag " + argument, DOCA_ERROR_NOT_SUPPORTED);
  if (parameter->seen && !parameter->many) return refuse(argument + " is there twice", DOCA_ERROR_INVALID_VALUE);
  parameter->seen = true;
  if (!has_value && parameter->type != DOCA_ARGP_TYPE_BOOLEAN) {
    if (*i + 1 >= argc) return refuse(argument + " needs a value", DOCA_ERROR_INVALID_VALUE);
    value = argv[++*i];
  }
  return call(*parameter, argument, value);
}

// Nothing without a program.
template <typename Call>
doca_error_t with_program(Call&& run) {
  return contained([&]() -> doca_error_t { return program ? run() : DOCA_ERROR_BAD_STATE; });
}

void set(doca_argp_param* param, std::string doca_argp_param::* which, const char* text) {
  contained([&]() -> doca_error_t {
    if (param && text) param->*which = text;
    return DOCA_SUCCESS;
  });
}

}  // namespace

extern "C" {

doca_error_t doca_argp_init(const char* program_name, void* program_config) {
  return contained([&]() -> doca_error_t {
    if (program) return DOCA_ERROR_BAD_STATE;
    auto created = std::make_unique<Program>();
    created->name = program_name ? program_name : "";
    created->config = program_config;
    program = created.release();
    add("h", "help", "", "Print a help synopsis", DOCA_ARGP_TYPE_BOOLEAN, show_help);
    add("v", "version", "", "Print program version information", DOCA_ARGP_TYPE_BOOLEAN, show_version);
    add("l", "log-level", "", "Set the (numeric) log level of the program: 10 (none) to 70 (trace)", DOCA_ARGP_TYPE_INT,
        set_log_level);
    add("", "sdk-log-level", "", "Set the (numeric) log level of the libraries: 10 (none) to 70 (trace)",
        DOCA_ARGP_TYPE_INT, set_sdk_log_level);
    add("j", "json", "<path>", "Not supported here", DOCA_ARGP_TYPE_STRING, refuse_json);
    return DOCA_SUCCESS;
  });
}

doca_error_t doca_argp_destroy(void) {
  return with_program([] {
    delete std::exchange(program, nullptr);
    return DOCA_SUCCESS;
  });
}

doca_error_t doca_argp_start(int argc, char** argv) {
  return with_program([&]() -> doca_error_t {
    if (argc < 1 || !argv) return DOCA_ERROR_INVALID_VALUE;
    if (program->name.empty()) program->name = argv[0];
    for (int i = 1; i < argc; ++i) {
      if (const doca_error_t error = read_flag(argc, argv, &i)) return error;
      if (!program) return DOCA_ERROR_BAD_STATE;  // the callback has destroyed it
    }
    for (const auto& each : program->parameters) {
      if (each->mandatory && !each->seen) {
        return refuse("--" + each->long_name + " is missing", DOCA_ERROR_INVALID_VALUE);
      }
    }
    return program->validation ? program->validation(program->config) : DOCA_SUCCESS;
  });
}

void doca_argp_usage(void) {
  if (!program) return;
  std::printf("Usage: %s [flags]\n\nFlags:\n", program->name.c_str());
  for (const auto& each : program->parameters) {
    std::string flags = each->short_name.empty() ? "" : "-" + each->short_name;
    if (!each->long_name.empty()) flags += (flags.empty() ? "--" : ", --") + each->long_name;
    if (!each->arguments.empty()) flags += " " + each->arguments;
    std::printf("  %-32s  %s\n", flags.c_str(), each->description.c_str());
  }
  std::exit(0);
}

doca_error_t doca_argp_param_create(doca_argp_param** param) {
  return with_program([&]() -> doca_error_t {
    if (!param) return DOCA_ERROR_INVALID_VALUE;
    *param = new doca_argp_param;
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_argp_param_destroy(doca_argp_param* param) {
  return contained([&]() -> doca_error_t {
    if (!param) return DOCA_ERROR_INVALID_VALUE;
    const bool registered = program && std::any_of(program->parameters.begin(), program->parameters.end(),
                                                   [param](const auto& each) { return each.get() == param; });
    if (registered) return DOCA_ERROR_BAD_STATE;
    delete param;
    return DOCA_SUCCESS;
  });
}
void doca_argp_param_set_short_name(doca_argp_param* param, const char* name) {
  set(param, &doca_argp_param::short_name, name);
}
void doca_argp_param_set_long_name(doca_argp_param* param, const char* name) {
  set(param, &doca_argp_param::long_name, name);
}
void doca_argp_param_set_arguments(doca_argp_param* param, const char* arguments) {
  set(param, &doca_argp_param::arguments, arguments);
}
void doca_argp_param_set_description(doca_argp_param* param, const char* description) {
  set(param, &doca_argp_param::description, description);
}
void doca_argp_param_set_callback(doca_argp_param* param, doca_argp_param_cb_t callback) {
  if (param) param->callback = callback;
}
void doca_argp_param_set_type(doca_argp_param* param, doca_argp_type type) {
  if (param) param->type = type;
}
void doca_argp_param_set_mandatory(doca_argp_param* param) {
  if (param) param->mandatory = true;
}
// Without JSON files every parameter is one of the command line.
void doca_argp_param_set_cli_only(doca_argp_param*) {}
void doca_argp_param_set_multiplicity(doca_argp_param* param) {
  if (param) param->many = true;
}

doca_error_t doca_argp_register_param(doca_argp_param* input_param) {
  std::unique_ptr<doca_argp_param> parameter(input_param);
  return with_program([&]() -> doca_error_t {
    if (!parameter) return DOCA_ERROR_INVALID_VALUE;
    const bool named = !parameter->short_name.empty() || !parameter->long_name.empty();
    if (!named || !parameter->callback || parameter->description.empty() || parameter->type == DOCA_ARGP_TYPE_UNKNOWN) {
      return DOCA_ERROR_INITIALIZATION;
    }
    const bool device = parameter->type == DOCA_ARGP_TYPE_DEVICE || parameter->type == DOCA_ARGP_TYPE_DEVICE_REP;
    if (device) return DOCA_ERROR_NOT_SUPPORTED;
    if (find(parameter->short_name, &doca_argp_param::short_name) ||
        find(parameter->long_name, &doca_argp_param::long_name)) {
      return DOCA_ERROR_INVALID_VALUE;
    }
    program->parameters.push_back(std::move(parameter));
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback) {
  return with_program([&]() -> doca_error_t {
    if (!callback) return DOCA_ERROR_INVALID_VALUE;
    program->version = callback;
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback) {
  return with_program([&]() -> doca_error_t {
    if (!callback) return DOCA_ERROR_INVALID_VALUE;
    program->validation = callback;
    return DOCA_SUCCESS;
  });
}
// There is no DPDK here: its flags are refused as unknown ones.
void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t) {}

doca_error_t doca_argp_get_log_level(int* log_level) {
  return with_program([&]() -> doca_error_t {
    if (!log_level) return DOCA_ERROR_INVALID_VALUE;
    *log_level = program->log_level;
    return DOCA_SUCCESS;
  });
}
doca_error_t doca_argp_get_sdk_log_level(int* log_level) {
  return with_program([&]() -> doca_error_t {
    if (!log_level) return DOCA_ERROR_INVALID_VALUE;
    *log_level = program->sdk_log_level;
    return DOCA_SUCCESS;
  });
}

}  // extern "C"
