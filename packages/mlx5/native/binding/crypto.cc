// Crypto logins, data encryption keys and mkeys.
#include <algorithm>
#include <cstring>

#include "binding/objects.h"
#include "provider/exchange.h"

namespace verbs::mlx5::binding {
namespace {

template <std::size_t Size>
void copy_bytes(const Bytes& from, char (&to)[Size]) {
  if (from.size != 0) std::memcpy(to, from.data, std::min(from.size, Size));
}
napi_value byte_array(napi_env env, const char* from, std::size_t size) {
  void* data = nullptr;
  napi_value buffer = nullptr, array = nullptr;
  if (napi_create_arraybuffer(env, size, &data, &buffer) != napi_ok) return nullptr;
  std::memcpy(data, from, size);
  napi_create_typedarray(env, napi_uint8_array, size, buffer, 0, &array);
  return array;
}

// cryptoLogin(library, context, { credentialId, importKekId, credential }): 0 | -errno
napi_value login(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  mlx5dv_crypto_login_attr attr{};
  attr.credential_id = to_u32(env, get(env, arguments[2], "credentialId"));
  attr.import_kek_id = to_u32(env, get(env, arguments[2], "importKekId"));
  copy_bytes(to_bytes(env, get(env, arguments[2], "credential")), attr.credential);
  const int error = status(context.library().mlx5dv_crypto_login, context.get(), &attr);
  explicit_bzero(&attr, sizeof attr);
  return failure(env, error);
}

// cryptoLoginQueryState(library, context): state | -errno; cryptoLogout(library, context): 0 | -errno
napi_value query_state(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  mlx5dv_crypto_login_state state{};
  const int error = status(context.library().mlx5dv_crypto_login_query_state, context.get(), &state);
  return error != 0 ? failure(env, error) : number(env, state);
}
napi_value logout(const Arguments& arguments) {
  Subject<ibv_context> context(arguments);
  return context ? failure(arguments.env, status(context.library().mlx5dv_crypto_logout, context.get())) : nullptr;
}

// cryptoLoginCreate(library, context, { credentialId, importKekId, credential }): handle | -errno
napi_value login_create(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  if (!context) return nullptr;
  mlx5dv_crypto_login_attr_ex attr{};
  attr.credential_id = to_u32(env, get(env, arguments[2], "credentialId"));
  attr.import_kek_id = to_u32(env, get(env, arguments[2], "importKekId"));
  // Last, since a getter may take the memory of a buffer away.
  const Bytes credential = to_bytes(env, get(env, arguments[2], "credential"));
  attr.credential = credential.data;
  attr.credential_len = credential.size;
  const auto destroy = [](const Library& its_library, mlx5dv_crypto_login_obj* object) {
    return status(its_library.mlx5dv_crypto_login_destroy, object);
  };
  return context.attach(env, created(context.library().mlx5dv_crypto_login_create, context.get(), &attr), destroy);
}

// cryptoLoginQuery(login): state | -errno
napi_value login_query(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* object = held.object<mlx5dv_crypto_login_obj>(arguments, 0);
  if (!object) return nullptr;
  Filled<mlx5dv_crypto_login_query_attr> attr;
  const int error = attr.after(status(object->library().mlx5dv_crypto_login_query, object->get(), attr.get()));
  return error != 0 ? failure(env, error) : number(env, attr->state);
}

// dekCreate(library, context, pd, { keySize, hasKeytag, keyPurpose, opaque, key, cryptoLogin? }): handle | -errno
napi_value dek_create(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_context> context(arguments);
  auto* pd = context ? context.held.verbs<ibv_pd>(arguments, 2, VERBS_CORE_PD) : nullptr;
  if (!pd) return nullptr;
  if (pd->context != context.get()) return failure(env, EINVAL);
  const napi_value given = arguments[3], its_login = get(env, given, "cryptoLogin");
  mlx5dv_dek_init_attr attr{};
  attr.key_size = static_cast<mlx5dv_crypto_key_size>(to_u32(env, get(env, given, "keySize")));
  attr.has_keytag = to_boolean(env, get(env, given, "hasKeytag"));
  attr.key_purpose = static_cast<mlx5dv_crypto_key_purpose>(to_u32(env, get(env, given, "keyPurpose")));
  attr.pd = pd;
  copy_bytes(to_bytes(env, get(env, given, "opaque")), attr.opaque);
  copy_bytes(to_bytes(env, get(env, given, "key")), attr.key);
  if (!is_undefined(env, its_login)) {
    auto* object = context.held.object<mlx5dv_crypto_login_obj>(env, its_login);
    if (!object) return nullptr;
    if (object->context() != context.get()) return failure(env, EINVAL);
    attr.crypto_login = object->get();
    attr.comp_mask = MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN;
  }
  const auto destroy = [](const Library& its_library, mlx5dv_dek* dek) {
    return status(its_library.mlx5dv_dek_destroy, dek);
  };
  mlx5dv_dek* dek = created(context.library().mlx5dv_dek_create, context.get(), &attr);
  const int error = errno;
  explicit_bzero(&attr, sizeof attr);
  errno = error;
  return context.attach(env, dek, destroy);
}

// dekQuery(dek): { state, opaque: 8 bytes } | -errno
napi_value dek_query(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* dek = held.object<mlx5dv_dek>(arguments, 0);
  if (!dek) return nullptr;
  Filled<mlx5dv_dek_attr> attr;
  if (const int error = attr.after(status(dek->library().mlx5dv_dek_query, dek->get(), attr.get()))) {
    return failure(env, error);
  }
  napi_value result = object(env);
  set(env, result, "state", number(env, attr->state));
  set(env, result, "opaque", byte_array(env, attr->opaque, sizeof attr->opaque));
  return result;
}

// createMkey(library, pd, createFlags, maxEntries): { handle, lkey, rkey } | -errno
napi_value create_mkey(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Subject<ibv_pd> pd(arguments);
  if (!pd) return nullptr;
  mlx5dv_mkey_init_attr attr{};
  attr.pd = pd.get();
  attr.create_flags = to_u32(env, arguments[2]);
  attr.max_entries = static_cast<std::uint16_t>(to_u32(env, arguments[3]));
  mlx5dv_mkey* mkey = created(pd.library().mlx5dv_create_mkey, &attr);
  if (!mkey) return failure(env, errno);
  const mlx5dv_mkey fields = *mkey;
  const auto destroy = [](const Library& its_library, mlx5dv_mkey* its_mkey) {
    return status(its_library.mlx5dv_destroy_mkey, its_mkey);
  };
  return described(env, pd.attach(env, mkey, destroy),
                   {{"lkey", number(env, fields.lkey)}, {"rkey", number(env, fields.rkey)}});
}

// mkeyCheck(mkey): { errType, actualValue, expectedValue, offset } | -errno
napi_value mkey_check(const Arguments& arguments) {
  const napi_env env = arguments.env;
  Held held;
  auto* mkey = held.object<mlx5dv_mkey>(arguments, 0);
  if (!mkey) return nullptr;
  Filled<mlx5dv_mkey_err> filled;
  if (const int error =
          filled.after(status(mkey->library()._mlx5dv_mkey_check, mkey->get(), filled.get(), sizeof *filled))) {
    return failure(env, error);
  }
  const mlx5dv_mkey_err& info = *filled;
  napi_value result = object(env);
  set(env, result, "errType", number(env, info.err_type));
  set(env, result, "actualValue", big(env, info.err.sig.actual_value));
  set(env, result, "expectedValue", big(env, info.err.sig.expected_value));
  set(env, result, "offset", big(env, info.err.sig.offset));
  return result;
}

}  // namespace

void init_crypto(napi_env env, napi_value exports) {
  export_function<login>(env, exports, "cryptoLogin");
  export_function<query_state>(env, exports, "cryptoLoginQueryState");
  export_function<logout>(env, exports, "cryptoLogout");
  export_function<login_create>(env, exports, "cryptoLoginCreate");
  export_function<login_query>(env, exports, "cryptoLoginQuery");
  export_function<dek_create>(env, exports, "dekCreate");
  export_function<dek_query>(env, exports, "dekQuery");
  export_function<create_mkey>(env, exports, "createMkey");
  export_function<mkey_check>(env, exports, "mkeyCheck");
}

}  // namespace verbs::mlx5::binding
