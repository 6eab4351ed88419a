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

// cryptoLogin(library, context, { credentialId, importKekId, credential }): 0 | -errno
Napi::Value login(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  mlx5dv_crypto_login_attr attr{};
  const Fields given(info[2]);
  attr.credential_id = given.u32("credentialId");
  attr.import_kek_id = given.u32("importKekId");
  copy_bytes(given.bytes("credential"), attr.credential);
  const int error = status(context.library().mlx5dv_crypto_login, context.get(), &attr);
  explicit_bzero(&attr, sizeof attr);
  return failure(env, error);
}

// cryptoLoginQueryState(library, context): state | -errno; cryptoLogout(library, context): 0 | -errno
Napi::Value query_state(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  mlx5dv_crypto_login_state state{};
  const int error = status(context.library().mlx5dv_crypto_login_query_state, context.get(), &state);
  return error != 0 ? failure(env, error) : number(env, state);
}
Napi::Value logout(const Napi::CallbackInfo& info) {
  Subject<ibv_context> context(info);
  return failure(info.Env(), status(context.library().mlx5dv_crypto_logout, context.get()));
}

// cryptoLoginCreate(library, context, { credentialId, importKekId, credential }): handle | -errno
Napi::Value login_create(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  mlx5dv_crypto_login_attr_ex attr{};
  const Fields given(info[2]);
  attr.credential_id = given.u32("credentialId");
  attr.import_kek_id = given.u32("importKekId");
  // Last, since a getter may take the memory of a buffer away.
  const Bytes credential = given.bytes("credential");
  attr.credential = credential.data;
  attr.credential_len = credential.size;
  const auto destroy = [](const Library& its_library, mlx5dv_crypto_login_obj* object) {
    return status(its_library.mlx5dv_crypto_login_destroy, object);
  };
  return context.attach(env, created(context.library().mlx5dv_crypto_login_create, context.get(), &attr), destroy);
}

// cryptoLoginQuery(login): state | -errno
Napi::Value login_query(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* object = held.object<mlx5dv_crypto_login_obj>(info, 0);
  Filled<mlx5dv_crypto_login_query_attr> attr;
  const int error = attr.after(status(object->library().mlx5dv_crypto_login_query, object->get(), attr.get()));
  return error != 0 ? failure(env, error) : number(env, attr->state);
}

// dekCreate(library, context, pd, { keySize, hasKeytag, keyPurpose, opaque, key, cryptoLogin? }): handle | -errno
Napi::Value dek_create(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_context> context(info);
  auto* pd = context.held.verbs<ibv_pd>(info, 2);
  if (pd->context != context.get()) return failure(env, EINVAL);
  const Fields given(info[3]);
  const Napi::Value its_login = given["cryptoLogin"];
  mlx5dv_dek_init_attr attr{};
  attr.key_size = given.number<mlx5dv_crypto_key_size>("keySize");
  attr.has_keytag = given.flag("hasKeytag");
  attr.key_purpose = given.number<mlx5dv_crypto_key_purpose>("keyPurpose");
  attr.pd = pd;
  copy_bytes(given.bytes("opaque"), attr.opaque);
  copy_bytes(given.bytes("key"), attr.key);
  if (!its_login.IsUndefined()) {
    auto* object = context.held.object<mlx5dv_crypto_login_obj>(its_login);
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
Napi::Value dek_query(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* dek = held.object<mlx5dv_dek>(info, 0);
  Filled<mlx5dv_dek_attr> attr;
  if (const int error = attr.after(status(dek->library().mlx5dv_dek_query, dek->get(), attr.get()))) {
    return failure(env, error);
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("state", number(env, attr->state));
  result.Set("opaque", copied(env, attr->opaque, sizeof attr->opaque));
  return result;
}

// createMkey(library, pd, createFlags, maxEntries): { handle, lkey, rkey } | -errno
Napi::Value create_mkey(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Subject<ibv_pd> pd(info);
  mlx5dv_mkey_init_attr attr{};
  attr.pd = pd.get();
  attr.create_flags = number_of<std::uint32_t>(info[2]);
  attr.max_entries = number_of<std::uint16_t>(info[3]);
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
Napi::Value mkey_check(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Held held;
  auto* mkey = held.object<mlx5dv_mkey>(info, 0);
  Filled<mlx5dv_mkey_err> filled;
  if (const int error =
          filled.after(status(mkey->library()._mlx5dv_mkey_check, mkey->get(), filled.get(), sizeof *filled))) {
    return failure(env, error);
  }
  const mlx5dv_mkey_err& found = *filled;
  Napi::Object result = Napi::Object::New(env);
  result.Set("errType", number(env, found.err_type));
  result.Set("actualValue", big(env, found.err.sig.actual_value));
  result.Set("expectedValue", big(env, found.err.sig.expected_value));
  result.Set("offset", big(env, found.err.sig.offset));
  return result;
}

}  // namespace

void init_crypto(Napi::Object exports) {
  export_function<login>(exports, "cryptoLogin");
  export_function<query_state>(exports, "cryptoLoginQueryState");
  export_function<logout>(exports, "cryptoLogout");
  export_function<login_create>(exports, "cryptoLoginCreate");
  export_function<login_query>(exports, "cryptoLoginQuery");
  export_function<dek_create>(exports, "dekCreate");
  export_function<dek_query>(exports, "dekQuery");
  export_function<create_mkey>(exports, "createMkey");
  export_function<mkey_check>(exports, "mkeyCheck");
}

}  // namespace verbs::mlx5::binding
