// The control path: what a server and a client of Comch have in common. The messages go over the transport of the Comm
// Channel, so that its ends and those of Comch understand each other.
//
// The transport's mutex guards the links, which the thread of the handshakes does not use; callbacks run without it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/bluefield/device.h"
#include "model/channel/transport.h"
#include "model/comch/link.h"
#include "model/engine/context.h"

namespace verbs::doca_comm::model::comch {

// Decided here: the documents leave the numbers to the device.
inline constexpr std::uint32_t kMaxSendTasks = 8192;
inline constexpr std::uint32_t kMaxReceiveQueue = 8192;
inline constexpr std::uint32_t kMaxMessageSize = 4080;
// The tasks in flight on one connection: with more, submit is AGAIN.
inline constexpr std::size_t kConnectionQueue = 1024;

class Control : public Context {
 public:
  ~Control() override;

  doca_dev* device() const { return dev_; }
  const Sizes& sizes() const { return sizes_; }
  // BAD_STATE unless the context is idle.
  doca_error_t set_message_size(std::uint32_t size);
  doca_error_t set_receive_queue(std::uint32_t size);
  doca_error_t configure_send(doca_comch_task_send_completion_cb_t completed,
                              doca_comch_task_send_completion_cb_t failed, std::uint32_t tasks);
  doca_error_t on_message(doca_comch_event_msg_recv_cb_t callback);
  doca_error_t on_consumer(doca_comch_event_consumer_cb_t created, doca_comch_event_consumer_cb_t expired);

  doca_error_t allocate_send(doca_comch_connection* connection, const void* message, std::uint32_t length,
                             doca_comch_task_send** task);
  doca_error_t update(Link& link);
  // progress() looks at that link. Under the mutex.
  void want_progress(Link& link);

  bool progress() override;
  void arm() override;
  void disarm() override;
  doca_error_t submit(doca_task& task) override;
  void free(doca_task& task) override;

 protected:
  Control(doca_dev* dev, std::string name) : name_(std::move(name)), dev_(dev) {}

  // nullptr while the context is idle.
  virtual Transport* transport() const = 0;
  // The next step of starting; accepts clients. True if something happened.
  virtual bool step() = 0;
  // Whether step() or the end has something to do. Under the mutex.
  virtual bool has_step() const = 0;
  // The peer is lost: tells the program.
  virtual void on_loss(const std::shared_ptr<Link>& link) = 0;
  // Under the mutex, begins to disconnect all peers; and whether they are gone.
  virtual void leave() = 0;
  virtual bool left() = 0;
  virtual void shut() = 0;

  // What open() does first, and last.
  doca_error_t prepare();
  doca_error_t opened();

  doca_error_t may_stop() final;
  void begin_close() final;
  bool finish_close() final;

  // Under the mutex.
  // `anchor` keeps the transport.
  Link& add_link(Peer& peer, std::shared_ptr<void> anchor);
  void remove_link(Link& link);
  // Completes everything in flight on that link with an error, by the next progress().
  void fail(Link& link, doca_error_t error);

  const std::string name_;

 private:
  void done(doca_task* task, doca_error_t status);
  bool collect(Link& link);
  bool collectable(const Link& link) const;
  bool complete_sends();
  bool run_done();
  bool deliver();

  doca_dev* dev_;
  Sizes sizes_{.features = kFastPath, .prompt = true};
  doca_comch_task_send_completion_cb_t send_completed_ = nullptr;
  doca_comch_task_send_completion_cb_t send_failed_ = nullptr;
  std::uint32_t send_tasks_ = 0;
  doca_comch_event_msg_recv_cb_t message_ = nullptr;
  doca_comch_event_consumer_cb_t consumer_created_ = nullptr;
  doca_comch_event_consumer_cb_t consumer_expired_ = nullptr;

  TaskPool<doca_comch_task_send> tasks_;
  TaskList done_;
  std::vector<std::shared_ptr<Link>> links_;
  std::vector<Link*> busy_;           // with tasks in flight
  std::vector<std::uint8_t> buffer_;  // of the message that is being delivered
};

}  // namespace verbs::doca_comm::model::comch
