"""Counters from the files to what is told: the real daemon and its real worker on a made-up /sys."""

import os
import subprocess

from harness import Daemon, wait_for

REAL = os.environ["RDMA_PINGMESHD"]


class Tree(Daemon):
    """The real programs; files of the tree are written by put()."""

    def __init__(self, files, config="[counters]\ninterval = 200ms\n"):
        super().__init__(config=config, devices=(), start=False)
        for name, value in files.items():
            self.put(name, value)
        self.start()

    def popen(self, command, **how):
        return subprocess.Popen([REAL, *command[3:]], **how)

    def put(self, name, value):
        path = self.classes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.parent.parent / f".{path.name}"
        temporary.write_text(f"{value}\n")
        temporary.rename(path)


def test_counters_that_begin_anew_are_an_event_that_names_them():
    port = "mlx5_0/ports/1/"
    with Tree({port + "counters/port_xmit_data": 123456789012, port + "counters/link_downed": 3,
               port + "hw_counters/out_of_sequence": 4294967290,
               port + "hw_counters/active_qps": 8}) as d:
        wait_for(lambda: d.metric("rdma_port_xmit_data_bytes_total", device="mlx5_0"),
                 what="counters")
        assert d.metric("rdma_counters_reset_total", device="mlx5_0") == 0
        # A wrap and a gauge that falls are none.
        d.put(port + "hw_counters/out_of_sequence", 5)
        d.put(port + "hw_counters/active_qps", 1)
        wait_for(lambda: d.metric("rdma_out_of_sequence_total", device="mlx5_0") == 5, what="wrap")
        assert d.metric("rdma_counters_reset_total", device="mlx5_0") == 0
        d.put(port + "counters/link_downed", 0)
        wait_for(lambda: d.metric("rdma_counters_reset_total", device="mlx5_0") == 1, what="reset")
        d.put(port + "counters/port_xmit_data", 7)
        wait_for(lambda: d.metric("rdma_port_xmit_data_bytes_total", device="mlx5_0") == 28,
                 what="the value as it is now")
        texts = [e["text"] for e in d.events("counters")]
        assert texts == ["1 counter began anew: port 1 link_downed 3 to 0",
                         "1 counter began anew: port 1 port_xmit_data 123456789012 to 7"], texts
        assert d.metric("rdma_counters_reset_total", device="mlx5_0") == 2


def test_a_counter_that_falls_with_every_round_floods_neither_journal_nor_log():
    name = "odd0/ports/1/hw_counters/brand_new"
    with Tree({name: 1000}) as d:
        wait_for(lambda: d.metric("rdma_brand_new_total"), what="counter")
        for value in range(990, 900, -10):
            d.put(name, value)
            wait_for(lambda: d.metric("rdma_brand_new_total") == value, what="value")
        assert d.metric("rdma_counters_reset_total", device="odd0") == 9
        assert len(d.events("counters")) == 4 and d.log().count("began anew") == 4


def test_counters_beyond_the_room_of_a_port_are_counted_as_dropped():
    files = {f"big/ports/1/hw_counters/c{i}": i for i in range(2100)}
    with Tree(files, "[counters]\ninterval = 1s\n") as d:
        wait_for(lambda: d.metric("rdma_c0_total") is not None, what="counters")
        assert d.metric("rdma_pingmesh_series_dropped") == 2100 - 2048
