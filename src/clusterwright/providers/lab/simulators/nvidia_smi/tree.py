"""Everything that `nvidia-smi -q` says of one GPU, once, for its text and its XML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..node import Node
from ..reading import Reading
from .query import NO_CLUSTER

DEPRECATED = "Requested functionality has been deprecated"
NA = "N/A"


@dataclass(frozen=True, slots=True)
class Line:
    """A label of the text, a tag of the XML, and a value or further lines. An empty label or tag: not there."""

    label: str
    tag: str
    value: str = ""
    lines: tuple[Line, ...] = ()


def gpu_lines(node: Node, reading: Reading) -> Iterator[Line]:
    """In the order of the captures."""
    yield from _identity(node, reading)
    yield _pci(reading)
    yield Line("Fan Speed", "fan_speed", NA)
    yield Line("Performance State", "performance_state", reading.performance_state)
    yield from _reasons(reading)
    yield Line("Sparse Operation Mode", "sparse_operation_mode", "Disabled" if reading.model.links else NA)
    yield from _memory(reading)
    yield Line("Compute Mode", "compute_mode", "Default")
    yield from _utilization()
    yield from _errors(reading)
    yield from _temperature(reading)
    yield from _power(reading)
    yield from _clocks(reading)
    yield _fabric(reading)
    yield Line("Processes", "processes", "None")
    yield _section("Capabilities", "capabilities", ("EGM", "egm", "disabled"))


def _section(label: str, tag: str, *pairs: tuple[str, str, object]) -> Line:
    return Line(label, tag, lines=tuple(Line(a, b, NA if c is None else str(c)) for a, b, c in pairs))


def _mib(value: int | None) -> str:
    return NA if value is None else f"{value} MiB"


def _mhz(value: int | None) -> str:
    return NA if value is None else f"{value} MHz"


def _watts(value: float | None) -> str:
    return NA if value is None else f"{value:.2f} W"


def _yes(value: bool) -> str:
    return "Yes" if value else "No"


def _on(value: bool) -> str:
    return "Enabled" if value else "Disabled"


def _identity(node: Node, reading: Reading) -> Iterator[Line]:
    model, bus = reading.model, reading.bus_id.split(":")
    mig = _on(reading.mig_mode) if model.mig else NA
    yield Line("Product Name", "product_name", reading.gpu.model)
    yield Line("Product Brand", "product_brand", model.brand)
    yield Line("Product Architecture", "product_architecture", model.architecture or NA)
    yield Line("Display Mode", "display_mode", DEPRECATED)
    yield Line("Display Attached", "display_attached", "Yes")
    yield Line("Display Active", "display_active", "Disabled")
    yield Line("Persistence Mode", "persistence_mode", _on(reading.persistent))
    yield Line("Addressing Mode", "addressing_mode", "None")
    yield _section("MIG Mode", "mig_mode", ("Current", "current_mig", mig), ("Pending", "pending_mig", mig))
    yield Line("", "mig_devices", "None")
    yield Line("Accounting Mode", "accounting_mode", "Disabled")
    yield Line("Accounting Mode Buffer Size", "accounting_mode_buffer_size", "4000")
    yield _section(
        "Driver Model", "driver_model", ("Current", "current_dm", NA), ("Pending", "pending_dm", NA)
    )
    yield Line("Serial Number", "serial", reading.serial)
    yield Line("GPU UUID", "uuid", reading.gpu.uuid)
    yield Line("GPU PDI", "pdi", NA)
    yield Line("Minor Number", "minor_number", str(reading.gpu.minor))
    yield Line("VBIOS Version", "vbios_version", model.vbios or NA)
    yield Line("MultiGPU Board", "multigpu_board", "No")
    yield Line("Board ID", "board_id", f"0x{int(bus[1], 16) * 256:x}")
    yield Line("Board Part Number", "board_part_number", model.board_part or NA)
    yield Line("GPU Part Number", "gpu_part_number", model.gpu_part or NA)
    yield Line("FRU Part Number", "gpu_fru_part_number", NA)
    yield _section(
        "Platform Info", "platformInfo",
        ("Chassis Serial Number", "chassis_serial_number", NA), ("Slot Number", "slot_number", NA),
        ("Tray Index", "tray_index", NA), ("Host ID", "host_id", NA), ("Peer Type", "peer_type", NA),
        ("Module Id", "module_id", reading.gpu.minor + 1), ("GPU Fabric GUID", "gpu_fabric_guid", NA),
    )  # fmt: skip
    yield _section(
        "Inforom Version", "inforom_version",
        ("Image Version", "img_version", model.inforom), ("OEM Object", "oem_object", "2.1" if model.ecc else NA),
        ("ECC Object", "ecc_object", ("7.16" if model.links else "6.16") if model.ecc else NA),
        ("Power Management Object", "pwr_object", NA),
    )  # fmt: skip
    yield _section(
        "Inforom BBX Object Flush", "inforom_bbx_flush",
        ("Latest Timestamp", "latest_timestamp", NA), ("Latest Duration", "latest_duration", NA),
    )  # fmt: skip
    yield _section(
        "GPU Operation Mode",
        "gpu_operation_mode",
        ("Current", "current_gom", NA),
        ("Pending", "pending_gom", NA),
    )
    yield Line("GPU C2C Mode", "c2c_mode", "Disabled" if model.links else NA)
    yield _section(
        "GPU Virtualization Mode", "gpu_virtualization_mode", ("Virtualization Mode", "virtualization_mode", "None"),
        ("Host VGPU Mode", "host_vgpu_mode", NA), ("vGPU Heterogeneous Mode", "vgpu_heterogeneous_mode", NA),
    )  # fmt: skip
    yield Line("GPU Recovery Action", "gpu_recovery_action", reading.recovery_action)
    yield Line("GSP Firmware Version", "gsp_firmware_version", reading.driver or NA)
    yield _section("IBMNPU", "ibmnpu", ("Relaxed Ordering Mode", "relaxed_ordering_mode", NA))


def _pci(reading: Reading) -> Line:
    model, (domain, bus, rest) = reading.model, reading.bus_id.split(":")
    device = f"{model.device_id}10DE" if model.device_id else NA
    system = f"{model.subsystem_id}10DE" if model.subsystem_id else NA
    generation = model.pcie or NA
    link = Line("GPU Link Info", "pci_gpu_link_info", lines=(
        _section(
            "PCIe Generation", "pcie_gen", ("Max", "max_link_gen", generation), ("Current", "current_link_gen", generation),
            ("Device Current", "device_current_link_gen", generation), ("Device Max", "max_device_link_gen", generation),
            ("Host Max", "max_host_link_gen", NA),
        ),
        _section("Link Width", "link_widths", ("Max", "max_link_width", "16x"), ("Current", "current_link_width", "16x")),
    ))  # fmt: skip
    bridge = _section(
        "Bridge Chip", "pci_bridge_chip", ("Type", "bridge_chip_type", NA), ("Firmware", "bridge_chip_fw", NA)
    )
    first = _section(
        "", "", ("Bus", "pci_bus", f"0x{bus}"), ("Device", "pci_device", f"0x{rest[:2]}"),
        ("Domain", "pci_domain", f"0x{domain[-4:]}"), ("Base Classcode", "pci_base_class", "0x3"),
        ("Sub Classcode", "pci_sub_class", "0x2"), ("Device Id", "pci_device_id", f"0x{device}"),
        ("Bus Id", "pci_bus_id", reading.bus_id), ("Sub System Id", "pci_sub_system_id", f"0x{system}"),
    )  # fmt: skip
    last = _section(
        "", "", ("Replays Since Reset", "replay_counter", 0), ("Replay Number Rollovers", "replay_rollover_counter", 0),
        ("Tx Throughput", "tx_util", "0 KB/s"), ("Rx Throughput", "rx_util", "0 KB/s"),
        ("Atomic Caps Outbound", "atomic_caps_outbound", NA), ("Atomic Caps Inbound", "atomic_caps_inbound", NA),
    )  # fmt: skip
    return Line("PCI", "pci", lines=(*first.lines, link, bridge, *last.lines))


def _reasons(reading: Reading) -> Iterator[Line]:
    def active(name: str) -> str:
        return "Active" if name in reading.reasons else "Not Active"

    slowdown = Line("HW Slowdown", "clocks_event_reason_hw_slowdown", active("hw_slowdown"), lines=(
        Line("HW Thermal Slowdown", "clocks_event_reason_hw_thermal_slowdown", active("hw_thermal_slowdown")),
        Line("HW Power Brake Slowdown", "clocks_event_reason_hw_power_brake_slowdown", active("hw_power_brake_slowdown")),
    ))  # fmt: skip
    before = _section(
        "", "", ("Idle", "clocks_event_reason_gpu_idle", active("gpu_idle")),
        ("Applications Clocks Setting", "clocks_event_reason_applications_clocks_setting", active("applications_clocks_setting")),
        ("SW Power Cap", "clocks_event_reason_sw_power_cap", active("sw_power_cap")),
    )  # fmt: skip
    after = _section(
        "", "", ("Sync Boost", "clocks_event_reason_sync_boost", active("sync_boost")),
        ("SW Thermal Slowdown", "clocks_event_reason_sw_thermal_slowdown", active("sw_thermal_slowdown")),
        ("Display Clock Setting", "clocks_event_reason_display_clocks_setting", "Not Active"),
    )  # fmt: skip
    yield Line("Clocks Event Reasons", "clocks_event_reasons", lines=(*before.lines, slowdown, *after.lines))

    def counted(name: str) -> str:
        return "1000000 us" if name in reading.reasons else "0 us"

    yield _section(
        "Clocks Event Reasons Counters", "clocks_event_reasons_counters",
        ("SW Power Capping", "clocks_event_reasons_counters_sw_power_cap", counted("sw_power_cap")),
        ("Sync Boost", "clocks_event_reasons_counters_sync_boost", counted("sync_boost")),
        ("SW Thermal Slowdown", "clocks_event_reasons_counters_sw_therm_slowdown", counted("sw_thermal_slowdown")),
        ("HW Thermal Slowdown", "clocks_event_reasons_counters_hw_therm_slowdown", counted("hw_thermal_slowdown")),
        ("HW Power Braking", "clocks_event_reasons_counters_hw_power_brake", counted("hw_power_brake_slowdown")),
    )  # fmt: skip


def _usage(label: str, tag: str, total: int | None, used: int, *, reserved: int | None = None) -> Line:
    pairs: list[tuple[str, str, object]] = [("Total", "total", _mib(total))]
    if reserved is not None:
        pairs.append(("Reserved", "reserved", _mib(reserved)))
    free = None if total is None else total - used - (reserved or 0)
    used_text = NA if total is None else _mib(used)
    return _section(label, tag, *pairs, ("Used", "used", used_text), ("Free", "free", _mib(free)))


def _memory(reading: Reading) -> Iterator[Line]:
    total = reading.gpu.memory_mib
    yield _usage("FB Memory Usage", "fb_memory_usage", total, 0, reserved=reading.memory_reserved)
    yield _usage("BAR1 Memory Usage", "bar1_memory_usage", reading.model.bar1_mib, 1)
    yield _usage("Conf Compute Protected Memory Usage", "cc_protected_memory_usage", 0, 0)


def _utilization() -> Iterator[Line]:
    engines = (("GPU", "gpu"), ("Memory", "memory"), ("Encoder", "encoder"), ("Decoder", "decoder"), ("JPEG", "jpeg"),
               ("OFA", "ofa"))  # fmt: skip
    yield _section("Utilization", "utilization", *((label, f"{tag}_util", "0 %") for label, tag in engines))
    for label, tag in (("Encoder Stats", "encoder_stats"), ("FBC Stats", "fbc_stats")):
        yield _section(
            label, tag, ("Active Sessions", "session_count", 0), ("Average FPS", "average_fps", 0),
            ("Average Latency", "average_latency", 0),
        )  # fmt: skip
    yield _section("DRAM Encryption Mode", "dram_encryption_mode", ("Current", "current_dram_encryption", NA),
                   ("Pending", "pending_dram_encryption", NA))  # fmt: skip


def _errors(reading: Reading) -> Iterator[Line]:
    ecc, counts = reading.model.ecc, reading.gpu.ecc
    mode = "Enabled" if ecc else NA
    yield _section("ECC Mode", "ecc_mode", ("Current", "current_ecc", mode), ("Pending", "pending_ecc", mode))

    def counters(corrected: int, uncorrected: int) -> Iterator[Line]:
        names = (("SRAM Correctable", "sram_correctable", 0), ("SRAM Uncorrectable Parity", "sram_uncorrectable_parity", 0),
                 ("SRAM Uncorrectable SEC-DED", "sram_uncorrectable_secded", 0), ("DRAM Correctable", "dram_correctable", corrected),
                 ("DRAM Uncorrectable", "dram_uncorrectable", uncorrected))  # fmt: skip
        yield from (Line(label, tag, str(count) if ecc else NA) for label, tag, count in names)

    aggregate = (*counters(counts.corrected_aggregate, counts.uncorrected_aggregate),
                 Line("SRAM Threshold Exceeded", "sram_threshold_exceeded", "No" if ecc else NA))  # fmt: skip
    sources = (("SRAM L2", "sram_l2"), ("SRAM SM", "sram_sm"), ("SRAM Microcontroller", "sram_microcontroller"),
               ("SRAM PCIE", "sram_pcie"), ("SRAM Other", "sram_other"))  # fmt: skip
    no = "No" if ecc else NA
    yield Line("ECC Errors", "ecc_errors", lines=(
        Line("Volatile", "volatile", lines=tuple(counters(counts.corrected, counts.uncorrected))),
        Line("Aggregate", "aggregate", lines=aggregate),
        _section("Aggregate Uncorrectable SRAM Sources", "aggregate_uncorrectable_sram_sources",
                 *((label, tag, 0 if ecc else NA) for label, tag in sources)),
        Line("Channel Repair Pending", "channel_repair_pending", no),
        Line("TPC Repair Pending", "tpc_repair_pending", no),
        Line("Unrepairable Memory", "unrepairable_memory", _yes(counts.remap_failed) if ecc else NA),
    ))  # fmt: skip
    yield _section(
        "Retired Pages", "retired_pages", ("Single Bit ECC", "multiple_single_bit_retirement", NA),
        ("Double Bit ECC", "double_bit_retirement", NA), ("Pending Page Blacklist", "pending_blacklist", NA),
    )  # fmt: skip
    yield _remapped(reading)


def _remapped(reading: Reading) -> Line:
    if not reading.model.ecc or reading.row_banks is None:
        return Line("Remapped Rows", "remapped_rows", NA)
    counts = reading.gpu.ecc
    names = (("Max", "max"), ("High", "high"), ("Partial", "partial"), ("Low", "low"), ("None", "none"))
    banks = (
        (label, f"row_remapper_histogram_{tag}", f"{count} bank(s)")
        for (label, tag), count in zip(names, reading.row_banks, strict=True)
    )
    first = _section(
        "", "", ("Correctable Error", "remapped_row_corr", 0), ("Uncorrectable Error", "remapped_row_unc", counts.remapped_rows),
        ("Pending", "remapped_row_pending", _yes(counts.remap_pending)),
        ("Remapping Failure Occurred", "remapped_row_failure", _yes(counts.remap_failed)),
    )  # fmt: skip
    histogram = _section("Bank Remap Availability Histogram", "row_remapper_histogram", *banks)
    return Line("Remapped Rows", "remapped_rows", lines=(*first.lines, histogram))


def _temperature(reading: Reading) -> Iterator[Line]:
    limited = reading.model.ecc
    memory = f"{reading.temperature + 7} C" if reading.model.links else NA

    def limit(value: int) -> str:
        return f"{value} C" if limited else NA

    yield _section(
        "Temperature", "temperature", ("GPU Current Temp", "gpu_temp", f"{reading.temperature} C"),
        ("GPU T.Limit Temp", "gpu_temp_tlimit", limit(reading.temperature_limit)),
        ("GPU Shutdown T.Limit Temp", "gpu_temp_max_tlimit_threshold", limit(-8)),
        ("GPU Slowdown T.Limit Temp", "gpu_temp_slow_tlimit_threshold", limit(-2)),
        ("GPU Max Operating T.Limit Temp", "gpu_temp_max_gpu_tlimit_threshold", limit(0)),
        ("GPU Target Temperature", "gpu_target_temperature", NA),
        ("Memory Current Temp", "memory_temp", memory),
        ("Memory Max Operating T.Limit Temp", "gpu_temp_max_mem_tlimit_threshold", limit(0)),
    )  # fmt: skip


def _power(reading: Reading) -> Iterator[Line]:
    model = reading.model
    limits = (("Current Power Limit", "current_power_limit"), ("Requested Power Limit", "requested_power_limit"),
              ("Default Power Limit", "default_power_limit"))  # fmt: skip
    yield _section(
        "GPU Power Readings", "gpu_power_readings",
        ("Average Power Draw", "average_power_draw", _watts(reading.watts)),
        ("Instantaneous Power Draw", "instant_power_draw", _watts(reading.watts)),
        *((label, tag, _watts(model.power_limit)) for label, tag in limits),
        ("Min Power Limit", "min_power_limit", _watts(model.power_min)),
        ("Max Power Limit", "max_power_limit", _watts(model.power_limit)),
    )  # fmt: skip
    draws = (
        ("Average Power Draw", "average_power_draw", NA),
        ("Instantaneous Power Draw", "instant_power_draw", NA),
    )
    yield _section("GPU Memory Power Readings ", "gpu_memory_power_readings", *draws)
    yield _section(
        "Module Power Readings", "module_power_readings", *draws, *((label, tag, NA) for label, tag in limits),
        ("Min Power Limit", "min_power_limit", NA), ("Max Power Limit", "max_power_limit", NA),
    )  # fmt: skip
    yield Line("Power Smoothing", "power_smoothing", NA)
    yield _section("Workload Power Profiles", "workload_power_profiles", ("Requested Profiles", "requested_profiles", NA),
                   ("Enforced Profiles", "enforced_profiles", NA))  # fmt: skip


def _clocks(reading: Reading) -> Iterator[Line]:
    model = reading.model
    yield _section(
        "Clocks", "clocks", ("Graphics", "graphics_clock", _mhz(reading.clock)), ("SM", "sm_clock", _mhz(reading.clock)),
        ("Memory", "mem_clock", _mhz(model.memory_mhz)), ("Video", "video_clock", _mhz(model.video_mhz)),
    )  # fmt: skip
    for label, tag in (
        ("Applications Clocks", "applications_clocks"),
        ("Default Applications Clocks", "default_applications_clocks"),
    ):
        yield _section(
            label, tag, ("Graphics", "graphics_clock", DEPRECATED), ("Memory", "mem_clock", DEPRECATED)
        )
    yield _section("Deferred Clocks", "deferred_clocks", ("Memory", "mem_clock", NA))
    yield _section(
        "Max Clocks", "max_clocks", ("Graphics", "graphics_clock", _mhz(model.sm_mhz)), ("SM", "sm_clock", _mhz(model.sm_mhz)),
        ("Memory", "mem_clock", _mhz(model.memory_mhz)), ("Video", "video_clock", _mhz(model.video_mhz)),
    )  # fmt: skip
    yield _section(
        "Max Customer Boost Clocks",
        "max_customer_boost_clocks",
        ("Graphics", "graphics_clock", _mhz(model.sm_mhz)),
    )
    yield _section(
        "Clock Policy",
        "clock_policy",
        ("Auto Boost", "auto_boost", NA),
        ("Auto Boost Default", "auto_boost_default", NA),
    )


def _fabric(reading: Reading) -> Line:
    joined = reading.fabric is not None
    health = _section(
        "Health", "health", ("Summary", "summary", NA), ("Bandwidth", "bandwidth", NA),
        ("Route Recovery in progress", "route_recovery_in_progress", NA), ("Route Unhealthy", "route_unhealthy", NA),
        ("Access Timeout Recovery", "access_timeout_recovery", NA),
        ("Incorrect Configuration", "incorrect_configuration", NA),
    )  # fmt: skip
    first = _section(
        "", "", ("State", "state", reading.fabric), ("Status", "status", "Success" if reading.fabric == "Completed" else NA),
        ("CliqueId", "cliqueId", 0 if joined else NA), ("ClusterUUID", "clusterUuid", NO_CLUSTER if joined else NA),
    )  # fmt: skip
    return Line("Fabric", "fabric", lines=(*first.lines, health))
