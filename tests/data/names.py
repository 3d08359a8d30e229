"""Names of the counters that the kernel's RDMA drivers have, by directory and driver."""

PMA = """
    symbol_error link_error_recovery link_downed port_rcv_errors
    port_rcv_remote_physical_errors port_rcv_switch_relay_errors port_xmit_discards
    port_xmit_constraint_errors port_rcv_constraint_errors local_link_integrity_errors
    excessive_buffer_overrun_errors VL15_dropped port_xmit_data port_rcv_data
    port_xmit_packets port_rcv_packets port_xmit_wait
""".split()

PMA_EXTENDED = PMA + """
    unicast_xmit_packets unicast_rcv_packets multicast_xmit_packets multicast_rcv_packets
""".split()

COUNTERS_EXT = """
    port_xmit_data_64 port_rcv_data_64 port_xmit_packets_64 port_rcv_packets_64
    port_unicast_xmit_packets port_unicast_rcv_packets
    port_multicast_xmit_packets port_multicast_rcv_packets
""".split()

MLX5_Q = """
    rx_write_requests rx_read_requests rx_atomic_requests rx_dct_connect out_of_buffer
    out_of_sequence duplicate_request rnr_nak_retry_err packet_seq_err implied_nak_seq_err
    local_ack_timeout_err resp_local_length_error resp_cqe_error req_cqe_error
    req_remote_invalid_request req_remote_access_errors resp_remote_access_errors
    resp_cqe_flush_error req_cqe_flush_error req_transport_retries_exceeded
    req_rnr_retries_exceeded roce_adp_retrans roce_adp_retrans_to roce_slow_restart
    roce_slow_restart_cnps roce_slow_restart_trans
""".split()

MLX5_CONGESTION = """
    rp_cnp_ignored rp_cnp_handled np_ecn_marked_roce_packets np_cnp_sent rx_icrc_encapsulated
""".split()

MLX4_DIAG = ["num_cqovf"] + [
    "rq_num_" + n for n in "dup lle lpe lqpoe oos rae rire rnr udsdprd wrfe".split()
] + [
    "sq_num_" + n
    for n in "bre lle lpe lqpoe mwbe oos rae rire rnr roe rree to tree wrfe".split()
]

IRDMA = [f"ip{v}{n}" for v in "46" for n in """
    InDiscards InMcastOctets InMcastPkts InOctets InPkts InReasmRqd InTruncatedPkts
    OutMcastOctets OutMcastPkts OutNoRoutes OutOctets OutPkts OutSegRqd
""".split()] + """
    RxECNMrkd RxUDP TxUDP cnpHandled cnpIgnored cnpSent iwInRdmaReads iwInRdmaSends
    iwInRdmaWrites iwOutRdmaReads iwOutRdmaSends iwOutRdmaWrites iwRdmaBnd iwRdmaInv
    rxVlanErrors tcpInOptErrors tcpInProtoErrors tcpInSegs tcpOutSegs tcpRetransSegs
""".split()

BNXT_OBJECTS = "ahs cqs mrs mws pds qps rc_qps srqs ud_qps".split()
BNXT_RE = [f"{kind}_{o}" for kind in ("active", "watermark") for o in BNXT_OBJECTS] + [
    "res_" + n for n in """
    cmp_err cq_load_err exceed_max exceeds_wqe invalid_dup_rkey irrq_oflow length_mismatch
    mem_err opcode_err rem_inv_err rx_domain_err rx_invalid_rkey rx_no_perm rx_pci_err
    rx_range_err srq_err srq_load_err tx_domain_err tx_invalid_rkey tx_no_perm tx_pci_err
    tx_range_err unaligned_atomic unsup_opcode wqe_format_err
    """.split()
] + [f"{d}_{n}" for d in ("rx", "tx") for n in """
    bytes pkts cnp_pkts atomic_req read_req read_resp send_req write_req roce_discards
    roce_errors roce_only_bytes roce_only_pkts
""".split()] + """
    bad_resp_err db_fifo_register dup_req local_protection_err local_qp_op_err
    max_retry_exceeded mem_mgmt_op_err missing_resp oos_drop_count pacing_alerts
    pacing_complete pacing_reschedule recoverable_errors remote_access_err
    remote_invalid_req_err remote_op_err resize_cq_cnt rnr_naks_rcvd rx_ecn_marked_pkts
    rx_out_of_buffer rx_roce_good_bytes rx_roce_good_pkts seq_err_naks_rcvd to_retransmits
    unrecoverable_err
""".split()

EFA_PORT = """
    impaired_remote_conn_events rdma_read_bytes rdma_read_resp_bytes rdma_read_wr_err
    rdma_read_wrs rdma_write_bytes rdma_write_recv_bytes rdma_write_wr_err rdma_write_wrs
    recv_bytes recv_wrs retrans_bytes retrans_pkts retrans_timeout_events rx_bytes rx_drops
    rx_pkts send_bytes send_wrs tx_bytes tx_pkts unresponsive_remote_events
""".split()

EFA_DEVICE = """
    alloc_pd_err alloc_ucontext_err cmds_err completed_cmds create_ah_err create_cq_err
    create_qp_err keep_alive_rcvd mmap_err no_completion_cmds reg_mr_err submitted_cmds
""".split()

MANA_PORT = """
    requester_timeout requester_oos_nak requester_rnr_nak requester_implicit_nak
    requester_readresp_psn_mismatch requester_retries_exceeded
    requester_rnr_nak_retries_exceeded requestor_local_prot_error
    responder_rnr_nak responder_oos responder_dup_request responder_local_len_error
    responder_local_qp_error responder_malformed_wqe responder_rem_access_error
    nak_inv_req nak_access_error nak_opp_error nak_inv_read dup_rx_requests
    general_hw_error total_fatal_error tx_packets rx_packets tx_bytes rx_bytes
    rx_send_requests rx_write_requests rx_read_requests received_cnps num_qps_congested
    num_qps_recovered rate_inc_events current_rate
""".split()

MANA_DEVICE = """
    sent_cnps received_ecns received_cnp_count qp_congested_events qp_recovered_events
    rate_inc_events
""".split()

HNS = [f"{d}_{n}_pkt" for d in ("rx", "tx") for n in "rc uc ud xrc cnp err".split()] + """
    rx_pkt tx_pkt rx_buffer trp_rx_sof trp_get_irrl_err_pkt trp_get_mpt_err_pkt
    cq_cqe cq_poe cq_notify ecn_doorbell
""".split()

ERDMA = [f"{d}_{n}_cnt" for d in ("rx", "tx") for n in """
    bytes packets bps_limit_drop pps_limit_drop disable_drop
""".split()] + ["tx_reqs_cnt"]

CXGB4 = [f"ip{v}{n}" for v in "46" for n in "InSegs OutSegs OutRsts RetransSegs".split()]

HFI1_PORT = """
    DmaWait LoopPkts PktDrop RcAcks RcResend RcTimeOut SwLinkUp,32 UnknownFrame
""".split()

HFI1_DEVICE = "CcePciCrSt,32 RxRbufFullErr SDEDscFdCn10,32 SDMAIdInt1,32".split()

RXE = """
    sent_pkts rcvd_pkts duplicate_request out_of_seq_request rcvd_rnr_err send_rnr_err
    rcvd_seq_err ack_deferred retry_exceeded_err retry_rnr_exceeded_err
    completer_retry_err send_err link_downed rdma_sends rdma_recvs
""".split()
