! README.md says what it does.

! The part of libibverbs that it uses, as its ABI has it on 64-bit machines.
module verbs
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int), parameter :: rc = 2, send = 2, signaled = 2, local_write = 1, mtu_1024 = 3
  integer(c_int), parameter :: init = 1, rtr = 2, rts = 3
  ! STATE, ACCESS_FLAGS, PKEY_INDEX, PORT
  integer(c_int), parameter :: init_mask = int(z'39')
  ! STATE, AV, PATH_MTU, RQ_PSN, MIN_RNR_TIMER, MAX_DEST_RD_ATOMIC, DEST_QPN
  integer(c_int), parameter :: rtr_mask = int(z'129181')
  ! STATE, TIMEOUT, RETRY_CNT, RNR_RETRY, MAX_QP_RD_ATOMIC, SQ_PSN
  integer(c_int), parameter :: rts_mask = int(z'12e01')

  type, bind(c) :: sge_t
    integer(c_int64_t) :: addr
    integer(c_int32_t) :: length, lkey
  end type
  type, bind(c) :: recv_wr_t
    integer(c_int64_t) :: wr_id
    type(c_ptr) :: next, sg_list
    integer(c_int) :: num_sge
  end type
  type, bind(c) :: send_wr_t
    integer(c_int64_t) :: wr_id
    type(c_ptr) :: next, sg_list
    integer(c_int) :: num_sge, opcode
    integer(c_int32_t) :: send_flags, imm_data
    integer(c_int64_t) :: other(11)
  end type
  type, bind(c) :: wc_t
    integer(c_int64_t) :: wr_id
    integer(c_int) :: status, opcode
    integer(c_int32_t) :: vendor_err, byte_len, imm_data, qp_num, src_qp, wc_flags
    integer(c_int16_t) :: pkey_index, slid
    integer(c_int8_t) :: sl, dlid_path_bits
  end type
  type, bind(c) :: mr_t
    type(c_ptr) :: context, pd, addr
    integer(c_size_t) :: length
    integer(c_int32_t) :: handle, lkey, rkey
  end type
  type, bind(c) :: qp_t
    type(c_ptr) :: context, qp_context, pd, send_cq, recv_cq, srq
    integer(c_int32_t) :: handle, qp_num
  end type
  type, bind(c) :: context_t
    type(c_ptr) :: device, before_poll_cq(11)
    type(c_funptr) :: poll_cq
    type(c_ptr) :: before_post_send(13)
    type(c_funptr) :: post_send, post_recv
  end type
  type, bind(c) :: cap_t
    integer(c_int32_t) :: max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data
  end type
  type, bind(c) :: qp_init_attr_t
    type(c_ptr) :: qp_context, send_cq, recv_cq, srq
    type(cap_t) :: cap
    integer(c_int) :: qp_type, sq_sig_all
  end type
  type, bind(c) :: ah_attr_t
    integer(c_int64_t) :: dgid(2)
    integer(c_int32_t) :: flow_label
    integer(c_int8_t) :: sgid_index, hop_limit, traffic_class
    integer(c_int16_t) :: dlid
    integer(c_int8_t) :: sl, src_path_bits, static_rate, is_global, port_num
  end type
  type, bind(c) :: qp_attr_t
    integer(c_int) :: qp_state, cur_qp_state, path_mtu, path_mig_state
    integer(c_int32_t) :: qkey, rq_psn, sq_psn, dest_qp_num, qp_access_flags
    type(cap_t) :: cap
    type(ah_attr_t) :: ah_attr, alt_ah_attr
    integer(c_int16_t) :: pkey_index, alt_pkey_index
    integer(c_int8_t) :: en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic, min_rnr_timer, port_num
    integer(c_int8_t) :: timeout, retry_cnt, rnr_retry, alt_port_num, alt_timeout
    integer(c_int32_t) :: rate_limit
  end type

  interface
    type(c_ptr) function ibv_get_device_list(count) bind(c)
      import
      type(c_ptr), value :: count
    end function
    type(c_ptr) function ibv_open_device(device) bind(c)
      import
      type(c_ptr), value :: device
    end function
    type(c_ptr) function ibv_alloc_pd(context) bind(c)
      import
      type(c_ptr), value :: context
    end function
    type(c_ptr) function ibv_reg_mr(pd, addr, length, access) bind(c)
      import
      type(c_ptr), value :: pd, addr
      integer(c_size_t), value :: length
      integer(c_int), value :: access
    end function
    type(c_ptr) function ibv_create_cq(context, cqe, cq_context, channel, comp_vector) bind(c)
      import
      type(c_ptr), value :: context, cq_context, channel
      integer(c_int), value :: cqe, comp_vector
    end function
    integer(c_int) function ibv_query_gid(context, port_num, gid_index, gid) bind(c)
      import
      type(c_ptr), value :: context
      integer(c_int8_t), value :: port_num
      integer(c_int), value :: gid_index
      integer(c_int64_t) :: gid(2)
    end function
    type(c_ptr) function ibv_create_qp(pd, attr) bind(c)
      import
      type(c_ptr), value :: pd
      type(qp_init_attr_t) :: attr
    end function
    integer(c_int) function ibv_modify_qp(qp, attr, mask) bind(c)
      import
      type(c_ptr), value :: qp
      type(qp_attr_t) :: attr
      integer(c_int), value :: mask
    end function
    integer(c_int) function sched_yield() bind(c)
      import
    end function
    type(c_ptr) function inet_ntop(family, from, to, size) bind(c)
      import
      integer(c_int), value :: family
      integer(c_int64_t) :: from(2)
      character(kind=c_char) :: to(*)
      integer(c_int), value :: size
    end function
  end interface

  abstract interface
    integer(c_int) function poll_cq_t(cq, num_entries, wc) bind(c)
      import
      type(c_ptr), value :: cq
      integer(c_int), value :: num_entries
      type(wc_t) :: wc(*)
    end function
    integer(c_int) function post_send_t(qp, wr, bad) bind(c)
      import
      type(c_ptr), value :: qp
      type(send_wr_t) :: wr
      type(c_ptr) :: bad
    end function
    integer(c_int) function post_recv_t(qp, wr, bad) bind(c)
      import
      type(c_ptr), value :: qp
      type(recv_wr_t) :: wr
      type(c_ptr) :: bad
    end function
  end interface
end module

program peer
  use verbs
  implicit none

  integer, parameter :: size = 1024, slots = 3, sent = 1000 ! of each peer: two to receive into, one to send from
  integer :: own, count, gid_index, rounds
  integer(c_int8_t), allocatable, target :: memory(:, :, :)
  type(c_ptr), allocatable :: qps(:)
  integer, allocatable :: numbers(:), came(:)
  type(context_t), pointer :: context
  type(mr_t), pointer :: mr
  type(c_ptr) :: cq
  integer(c_int64_t) :: gid(2)
  type(sge_t), target :: sge(1)
  procedure(poll_cq_t), pointer :: poll_cq
  procedure(post_send_t), pointer :: post_send
  procedure(post_recv_t), pointer :: post_recv
  integer :: other, round, awaited, messages, got, i
  integer(c_int) :: yielded
  type(wc_t) :: wc(8)
  character(len=1024) :: line
  integer :: status

  own = argument(1)
  count = argument(2)
  gid_index = argument(3)
  rounds = argument(4)
  call open_all()
  read (*, '(a)') line
  read (line(7:), *) numbers
  do other = 0, count - 1
    if (other /= own) call connect(other, numbers(other))
  end do
  call say('connected')
  read (*, '(a)') line
  messages = 0
  do round = 0, rounds - 1
    awaited = 0 ! completions: of what it sends, and of the messages of this round that have not come before
    do other = 0, count - 1
      if (other == own) cycle
      awaited = awaited + merge(2, 1, came(other) == round)
      call send_to(other)
    end do
    do while (awaited > 0)
      got = poll_cq(cq, 8, wc)
      if (got == 0) yielded = sched_yield()
      do i = 1, got
        if (wc(i)%status /= 0) error stop 'a completion has an error'
        if (wc(i)%wr_id == sent) then
          awaited = awaited - 1
          cycle
        end if
        if (came(int(wc(i)%wr_id)) == round) awaited = awaited - 1
        call take(int(wc(i)%wr_id))
        messages = messages + 1
      end do
    end do
  end do
  write (line, '(a, i0)') 'done ', messages
  call say(trim(line))
  do
    read (*, '(a)', iostat=status) line
    if (status /= 0) exit
  end do

contains

  integer function argument(which)
    integer, intent(in) :: which
    character(len=16) :: text
    call get_command_argument(which, text)
    read (text, *) argument
  end function

  subroutine say(text)
    character(len=*), intent(in) :: text
    write (*, '(a)') text
    flush (6)
  end subroutine

  subroutine need(pointer, what)
    type(c_ptr), intent(in) :: pointer
    character(len=*), intent(in) :: what
    if (.not. c_associated(pointer)) error stop what
  end subroutine

  subroutine check(status, what)
    integer(c_int), intent(in) :: status
    character(len=*), intent(in) :: what
    if (status /= 0) error stop what
  end subroutine

  ! Byte i of a message, from 1.
  integer(c_int8_t) function pattern(from, to, of_round, i)
    integer, intent(in) :: from, to, of_round, i
    integer :: value
    value = iand(31 * from + 17 * to + 7 * of_round + i - 1, 255)
    pattern = int(merge(value - 256, value, value > 127), c_int8_t)
  end function

  subroutine open_all()
    type(c_ptr), pointer :: devices(:)
    type(c_ptr) :: list, opened, pd, region
    type(qp_init_attr_t) :: attr
    type(qp_t), pointer :: qp
    character(kind=c_char) :: text(46)
    character(len=1024) :: words
    integer :: at

    list = ibv_get_device_list(c_null_ptr)
    call need(list, 'no devices')
    call c_f_pointer(list, devices, [1])
    opened = ibv_open_device(devices(1))
    call need(opened, 'ibv_open_device')
    call c_f_pointer(opened, context)
    call c_f_procpointer(context%poll_cq, poll_cq)
    call c_f_procpointer(context%post_send, post_send)
    call c_f_procpointer(context%post_recv, post_recv)
    pd = ibv_alloc_pd(opened)
    call need(pd, 'ibv_alloc_pd')
    allocate (memory(size, 0:slots - 1, 0:count - 1), qps(0:count - 1), numbers(0:count - 1), came(0:count - 1))
    memory = 0_c_int8_t
    came = 0
    region = ibv_reg_mr(pd, c_loc(memory), int(count * slots * size, c_size_t), local_write)
    call need(region, 'ibv_reg_mr')
    call c_f_pointer(region, mr)
    cq = ibv_create_cq(opened, 4 * count, c_null_ptr, c_null_ptr, 0)
    call need(cq, 'ibv_create_cq')
    call check(ibv_query_gid(opened, 1_c_int8_t, gid_index, gid), 'ibv_query_gid')
    call need(inet_ntop(10, gid, text, 46), 'inet_ntop')
    words = 'ready '
    do at = 1, 46
      if (text(at) == c_null_char) exit
      words(6 + at:6 + at) = text(at)
    end do
    do other = 0, count - 1
      if (other == own) then
        write (words(len_trim(words) + 1:), '(1x, i0)') 0
        cycle
      end if
      attr = qp_init_attr_t(c_null_ptr, cq, cq, c_null_ptr, cap_t(2, 2, 1, 1, 0), rc, 0)
      qps(other) = ibv_create_qp(pd, attr)
      call need(qps(other), 'ibv_create_qp')
      call c_f_pointer(qps(other), qp)
      write (words(len_trim(words) + 1:), '(1x, i0)') qp%qp_num
    end do
    call say(trim(words))
  end subroutine

  subroutine use_slot(peer_number, which)
    integer, intent(in) :: peer_number, which
    sge(1)%addr = transfer(c_loc(memory(1, which, peer_number)), sge(1)%addr)
    sge(1)%length = size
    sge(1)%lkey = mr%lkey
  end subroutine

  subroutine receive(peer_number, which)
    integer, intent(in) :: peer_number, which
    type(recv_wr_t) :: wr
    type(c_ptr) :: bad
    call use_slot(peer_number, which)
    wr = recv_wr_t(int(peer_number, c_int64_t), c_null_ptr, c_loc(sge), 1)
    call check(post_recv(qps(peer_number), wr, bad), 'ibv_post_recv')
  end subroutine

  subroutine send_to(peer_number)
    integer, intent(in) :: peer_number
    type(send_wr_t) :: wr
    type(c_ptr) :: bad
    integer :: at
    do at = 1, size
      memory(at, 2, peer_number) = pattern(own, peer_number, round, at)
    end do
    call use_slot(peer_number, 2)
    wr = send_wr_t(int(sent, c_int64_t), c_null_ptr, c_loc(sge), 1, send, signaled, 0, 0)
    call check(post_send(qps(peer_number), wr, bad), 'ibv_post_send')
  end subroutine

  ! A message has come.
  subroutine take(peer_number)
    integer, intent(in) :: peer_number
    integer :: of_round, at
    of_round = came(peer_number)
    came(peer_number) = of_round + 1
    do at = 1, size
      if (memory(at, mod(of_round, 2), peer_number) /= pattern(peer_number, own, of_round, at)) error stop 'a byte is wrong'
    end do
    call receive(peer_number, mod(of_round, 2))
  end subroutine

  subroutine connect(peer_number, qp_num)
    integer, intent(in) :: peer_number, qp_num
    type(qp_attr_t) :: attr
    integer(c_int8_t) :: nothing(storage_size(attr) / 8)
    nothing = 0
    attr = transfer(nothing, attr)
    attr%qp_state = init
    attr%port_num = 1
    call check(ibv_modify_qp(qps(peer_number), attr, init_mask), 'INIT')
    call receive(peer_number, 0)
    call receive(peer_number, 1)
    attr%qp_state = rtr
    attr%path_mtu = mtu_1024
    attr%dest_qp_num = qp_num
    attr%max_dest_rd_atomic = 1
    attr%min_rnr_timer = 12
    attr%ah_attr%dgid = gid
    attr%ah_attr%sgid_index = int(gid_index, c_int8_t)
    attr%ah_attr%hop_limit = 64
    attr%ah_attr%is_global = 1
    attr%ah_attr%port_num = 1
    call check(ibv_modify_qp(qps(peer_number), attr, rtr_mask), 'RTR')
    attr%qp_state = rts
    attr%timeout = 14
    attr%retry_cnt = 7
    attr%rnr_retry = 7
    attr%max_rd_atomic = 1
    call check(ibv_modify_qp(qps(peer_number), attr, rts_mask), 'RTS')
  end subroutine
end program
