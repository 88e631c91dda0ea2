/* SIMULATED libnvidia-ml of clusterwright's lab: not NVIDIA's, and of no use but on a lab node. It asks the
 * node's simulators for everything and keeps the answer for a second. Names, numbers and layouts are those
 * of NVIDIA's public NVML API reference, so that programs that link NVML find what they look for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef DUMP
#define DUMP "/usr/lib/simulated-hardware/nvml"
#endif

typedef int nvmlReturn_t;
enum {
    SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7,
    DRIVER_NOT_LOADED = 9, TIMED_OUT = 10, GPU_IS_LOST = 15, VERSION_MISMATCH = 18, UNKNOWN = 999
};
enum { GPUS = 64, MIGS = 8, LINKS = 18, XID_EVENT = 8 };

/* A handle is the address of one of these. */
typedef struct { int gpu, mig; } device_t;
typedef device_t *nvmlDevice_t;

static device_t devices[GPUS], migs[GPUS][MIGS];
static char *text;
static time_t asked;
static int users;

static const char *find(const char *key) {
    size_t length = strlen(key);
    const char *line = text;
    while (line && *line) {
        if (!strncmp(line, key, length) && line[length] == ' ')
            return line + length + 1;
        line = strchr(line, '\n');
        line = line ? line + 1 : 0;
    }
    return 0;
}

static long long number(const char *key, long long otherwise) {
    const char *value = find(key);
    return value ? atoll(value) : otherwise;
}

static int ask(void) {
    time_t now = time(0);
    if (text && now == asked)
        return number("status", UNKNOWN);
    FILE *stream = popen(DUMP " " VERSION " 2>/dev/null", "r");
    if (!stream)
        return UNKNOWN;
    size_t used = 0, room = 65536;
    char *fresh = malloc(room);
    for (size_t got; fresh && (got = fread(fresh + used, 1, room - used - 1, stream)) > 0;) {
        used += got;
        if (room - used < 4096)
            fresh = realloc(fresh, room *= 2);
    }
    pclose(stream);
    if (!fresh)
        return UNKNOWN;
    fresh[used] = 0;
    free(text);
    text = fresh;
    asked = now;
    return number("status", DRIVER_NOT_LOADED);
}

/* Not NVML's: the next question is asked afresh. For who changes a node faster than once a second. */
void forget(void) { asked = 0; }

static const char *key_of(nvmlDevice_t device, const char *name) {
    static char key[64];
    if (device->mig >= 0)
        snprintf(key, sizeof key, "%d.mig%d.%s", device->gpu, device->mig, name);
    else
        snprintf(key, sizeof key, "%d.%s", device->gpu, name);
    return key;
}

static const char *whole_key(nvmlDevice_t device, const char *name) {
    device_t whole = {device->gpu, -1};
    return key_of(&whole, name);
}

static int usable(nvmlDevice_t device) {
    if (!users)
        return UNINITIALIZED;
    if (!device)
        return INVALID_ARGUMENT;
    int status = ask();
    if (status)
        return status;
    if (device->gpu >= number("count", 0))
        return GPU_IS_LOST;
    return number(whole_key(device, "lost"), 0) ? GPU_IS_LOST : SUCCESS;
}

static int copy(const char *key, char *to, unsigned room) {
    const char *value = find(key);
    if (!value)
        return NOT_SUPPORTED;
    size_t length = strcspn(value, "\n");
    if (length >= room)
        return INSUFFICIENT_SIZE;
    memcpy(to, value, length);
    to[length] = 0;
    return SUCCESS;
}

static int told(nvmlDevice_t device, const char *name, char *to, unsigned room) {
    int status = usable(device);
    return status ? status : copy(key_of(device, name), to, room);
}

static int counted(nvmlDevice_t device, const char *name, unsigned *to) {
    int status = usable(device);
    if (status)
        return status;
    long long value = number(whole_key(device, name), -1);
    if (value < 0)
        return NOT_SUPPORTED;
    *to = value;
    return SUCCESS;
}

/* Library and system. */
nvmlReturn_t nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    for (int gpu = 0; gpu < GPUS; gpu++) {
        devices[gpu] = (device_t){gpu, -1};
        for (int mig = 0; mig < MIGS; mig++)
            migs[gpu][mig] = (device_t){gpu, mig};
    }
    int status = ask();
    users += !status;
    return status;
}
nvmlReturn_t nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
nvmlReturn_t nvmlInit(void) { return nvmlInitWithFlags(0); }
nvmlReturn_t nvmlShutdown(void) {
    if (!users)
        return UNINITIALIZED;
    users--;
    return SUCCESS;
}
const char *nvmlErrorString(nvmlReturn_t code) {
    switch (code) {
    case SUCCESS: return "Success";
    case UNINITIALIZED: return "Uninitialized";
    case INVALID_ARGUMENT: return "Invalid Argument";
    case NOT_SUPPORTED: return "Not Supported";
    case NOT_FOUND: return "Not Found";
    case INSUFFICIENT_SIZE: return "Insufficient Size";
    case DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case TIMED_OUT: return "Timeout";
    case GPU_IS_LOST: return "GPU is lost";
    case VERSION_MISMATCH: return "Driver/library version mismatch";
    default: return "Unknown Error";
    }
}
nvmlReturn_t nvmlSystemGetDriverVersion(char *to, unsigned room) { return users ? copy("driver", to, room) : UNINITIALIZED; }
nvmlReturn_t nvmlSystemGetNVMLVersion(char *to, unsigned room) {
    return snprintf(to, room, "%s", VERSION) < (int)room ? SUCCESS : INSUFFICIENT_SIZE;
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *to) {
    *to = number("cuda", 0);
    return SUCCESS;
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *to) { return nvmlSystemGetCudaDriverVersion_v2(to); }
nvmlReturn_t nvmlUnitGetCount(unsigned *to) { *to = 0; return SUCCESS; }

/* Which GPUs there are. */
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *to) {
    if (!users)
        return UNINITIALIZED;
    int status = ask();
    *to = status ? 0 : number("count", 0);
    return status;
}
nvmlReturn_t nvmlDeviceGetCount(unsigned *to) { return nvmlDeviceGetCount_v2(to); }
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *to) {
    unsigned count;
    int status = nvmlDeviceGetCount_v2(&count);
    if (status)
        return status;
    if (index >= count || index >= GPUS)
        return INVALID_ARGUMENT;
    *to = &devices[index];
    return number(whole_key(*to, "lost"), 0) ? GPU_IS_LOST : SUCCESS;
}
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t *to) { return nvmlDeviceGetHandleByIndex_v2(index, to); }
static nvmlReturn_t handle_by(const char *name, const char *wanted, nvmlDevice_t *to) {
    char value[96];
    for (unsigned gpu = 0, count = number("count", 0); users && gpu < count && gpu < GPUS; gpu++)
        if (!copy(key_of(&devices[gpu], name), value, sizeof value) && !strcasecmp(value, wanted))
            return nvmlDeviceGetHandleByIndex_v2(gpu, to);
    return users ? NOT_FOUND : UNINITIALIZED;
}
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *to) { return handle_by("uuid", uuid, to); }
nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *to) { return handle_by("serial", serial, to); }
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvmlDevice_t *to) {
    char full[32];
    snprintf(full, sizeof full, "%s%s", strlen(bus) == 12 ? "0000" : "", bus);
    return handle_by("bus_id", full, to);
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *bus, nvmlDevice_t *to) { return nvmlDeviceGetHandleByPciBusId_v2(bus, to); }

/* What a GPU is. */
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *to, unsigned room) { return told(device, "name", to, room); }
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *to, unsigned room) { return told(device, "uuid", to, room); }
nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char *to, unsigned room) { return told(device, "serial", to, room); }
nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char *to, unsigned room) { return told(device, "vbios", to, room); }
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned *to) { return counted(device, "minor", to); }
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *to) {
    int status = usable(device);
    *to = device ? (device->mig >= 0 ? device->mig : device->gpu) : 0;
    return status;
}
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
    char value[16];
    int status = usable(device);
    if (!status)
        status = copy(whole_key(device, "capability"), value, sizeof value);
    if (!status)
        sscanf(value, "%d %d", major, minor);
    return status;
}
typedef struct {
    char busIdLegacy[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
} nvmlPciInfo_t;
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *to) {
    char word[32] = "0";
    memset(to, 0, sizeof *to);
    int status = usable(device);
    if (!status)
        status = copy(whole_key(device, "bus_id"), to->busId, sizeof to->busId);
    if (status)
        return status;
    snprintf(to->busIdLegacy, sizeof to->busIdLegacy, "%.12s", to->busId + 4);
    sscanf(to->busId, "%x:%x:%x", &to->domain, &to->bus, &to->device);
    if (!copy(whole_key(device, "device_id"), word, sizeof word))
        to->pciDeviceId = strtoul(word, 0, 16);
    if (!copy(whole_key(device, "subsystem_id"), word, sizeof word))
        to->pciSubSystemId = strtoul(word, 0, 16);
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *to) { return nvmlDeviceGetPciInfo_v3(device, to); }
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *to) { return nvmlDeviceGetPciInfo_v3(device, to); }
nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned words, unsigned long *to) {
    char list[256];
    int status = usable(device);
    if (!status)
        status = copy(whole_key(device, "cpus"), list, sizeof list);
    if (status)
        return status;
    memset(to, 0, words * sizeof *to);
    for (char *part = strtok(list, ","); part; part = strtok(0, ",")) {
        unsigned first, last;
        int found = sscanf(part, "%u-%u", &first, &last);
        for (unsigned cpu = first; found > 0 && cpu <= (found == 2 ? last : first); cpu++)
            if (cpu / 64 < words)
                to[cpu / 64] |= 1ul << cpu % 64;
    }
    return SUCCESS;
}

/* How it is. */
typedef struct { unsigned long long total, free, used; } nvmlMemory_t;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } nvmlMemory_v2_t;
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *to) {
    int status = usable(device);
    if (status)
        return status;
    if (device->mig >= 0) {
        to->total = to->free = number(key_of(device, "memory"), 0) << 20;
        to->used = 0;
        return SUCCESS;
    }
    to->total = number(key_of(device, "memory"), 0);
    to->used = number(key_of(device, "reserved"), 0);
    to->free = to->total - to->used;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *to) {
    nvmlMemory_t plain;
    int status = nvmlDeviceGetMemoryInfo(device, &plain);
    if (status)
        return status;
    to->total = plain.total, to->free = plain.free, to->reserved = plain.used, to->used = 0;
    return SUCCESS;
}
typedef struct { unsigned gpu, memory; } nvmlUtilization_t;
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *to) {
    to->gpu = to->memory = 0;
    return usable(device);
}
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, int sensor, unsigned *to) { (void)sensor; return counted(device, "temperature", to); }
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *to) { return counted(device, "milliwatts", to); }
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned *to) { return counted(device, "limit", to); }
nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned *to) { return counted(device, "limit", to); }
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, int type, unsigned *to) { return counted(device, type == 2 ? "memory_clock" : "clock", to); }
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int type, unsigned *to) { return counted(device, type == 2 ? "memory_clock" : "max_clock", to); }
/* Clocks go in steps of 15 MHz, as `nvidia-smi -q -d SUPPORTED_CLOCKS` of an H100 lists them; nobody may set them here. */
enum { STEP = 15, SLOWEST = 345 };
nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned *count, unsigned *to) {
    unsigned clock, room = *count;
    int status = counted(device, "memory_clock", &clock);
    *count = 1;
    if (status || !room)
        return status ? status : INSUFFICIENT_SIZE;
    *to = clock;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device, unsigned memory, unsigned *count, unsigned *to) {
    unsigned known, fastest, room = *count;
    int status = counted(device, "memory_clock", &known);
    if (!status)
        status = counted(device, "max_clock", &fastest);
    if (status || memory != known)
        return status ? status : NOT_FOUND;
    *count = fastest < SLOWEST ? 0 : (fastest - SLOWEST) / STEP + 1;
    if (room < *count)
        return INSUFFICIENT_SIZE;
    for (unsigned step = 0; step < *count; step++)
        to[step] = fastest - step * STEP;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, int type, unsigned *to) { return nvmlDeviceGetMaxClockInfo(device, type, to); }
nvmlReturn_t nvmlDeviceSetApplicationsClocks(nvmlDevice_t device, unsigned memory, unsigned graphics) {
    (void)memory, (void)graphics;
    int status = usable(device);
    return status ? status : NOT_SUPPORTED;
}
nvmlReturn_t nvmlDeviceResetApplicationsClocks(nvmlDevice_t device) { return nvmlDeviceSetApplicationsClocks(device, 0, 0); }
nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, void *samples, unsigned *count, unsigned long long since) {
    (void)samples, (void)since;
    int status = usable(device);
    *count = 0;
    return status ? status : NOT_FOUND;
}
nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, int *to) { *to = 0; return usable(device); }
nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, unsigned *to) { return counted(device, "persistent", to); }
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, unsigned *to) { *to = 0; return usable(device); }
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long *to) {
    unsigned mask = 0;
    int status = counted(device, "reasons", &mask);
    *to = mask;
    return status;
}
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long *to) { return nvmlDeviceGetCurrentClocksEventReasons(device, to); }

/* What went wrong with it. */
nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, unsigned *current, unsigned *pending) {
    int status = counted(device, "corrected.0", current);
    *current = *pending = !status;
    return status;
}
nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, int kind, int life, unsigned long long *to) {
    unsigned count = 0;
    char name[32];
    snprintf(name, sizeof name, "%s.%d", kind ? "uncorrected" : "corrected", !!life);
    int status = counted(device, name, &count);
    *to = count;
    return status;
}
nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, int kind, int life, int place, unsigned long long *to) {
    int status = nvmlDeviceGetTotalEccErrors(device, kind, life, to);
    if (place == 7) /* SRAM */
        *to = 0;
    return place == 2 || place == 7 ? status : status ? status : NOT_SUPPORTED;
}
nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed) {
    *corrected = 0;
    int status = counted(device, "remapped", uncorrected);
    if (!status)
        status = counted(device, "remap_pending", pending);
    return status ? status : counted(device, "remap_failed", failed);
}
nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link, unsigned *active) {
    unsigned links, down;
    int status = counted(device, "links", &links);
    if (!status)
        status = counted(device, "links_down", &down);
    if (status)
        return status;
    if (link >= LINKS)
        return INVALID_ARGUMENT;
    if (link >= links)
        return NOT_SUPPORTED;
    *active = !(down >> link & 1);
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned link, nvmlPciInfo_t *to) {
    unsigned active;
    int status = nvmlDeviceGetNvLinkState(device, link, &active);
    if (!status && !active)
        status = NOT_SUPPORTED;
    if (status)
        return status;
    memset(to, 0, sizeof *to); /* every link ends at a switch */
    snprintf(to->busId, sizeof to->busId, "00000000:%02X:00.0", 5 + link % 4);
    snprintf(to->busIdLegacy, sizeof to->busIdLegacy, "0000:%02X:00.0", 5 + link % 4);
    to->bus = 5 + link % 4;
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned link, nvmlPciInfo_t *to) { return nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, to); }
typedef struct { unsigned char clusterUuid[16]; nvmlReturn_t status; unsigned cliqueId; unsigned char state; } nvmlGpuFabricInfo_t;
nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t *to) {
    unsigned state = 0;
    int status = counted(device, "fabric", &state);
    memset(to, 0, sizeof *to);
    to->state = state;
    return status;
}

/* Xid errors, as events: one that is there is told at once, as one that comes. */
typedef struct { nvmlDevice_t device; unsigned long long eventType, eventData; unsigned gpuInstanceId, computeInstanceId; } nvmlEventData_t;
typedef struct { unsigned long long gpus, told[GPUS]; } events_t;
nvmlReturn_t nvmlEventSetCreate(events_t **to) { return (*to = calloc(1, sizeof **to)) ? SUCCESS : UNKNOWN; }
nvmlReturn_t nvmlEventSetFree(events_t *set) { free(set); return SUCCESS; }
nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *to) { (void)device; *to = XID_EVENT; return SUCCESS; }
nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types, events_t *set) {
    if (types & XID_EVENT)
        set->gpus |= 1ull << device->gpu;
    return SUCCESS;
}
nvmlReturn_t nvmlEventSetWait_v2(events_t *set, nvmlEventData_t *to, unsigned milliseconds) {
    for (unsigned waited = 0;; waited += 50) {
        if (!users)
            return UNINITIALIZED;
        ask();
        for (int gpu = 0; gpu < GPUS; gpu++) {
            unsigned long long xid = number(key_of(&devices[gpu], "xid"), 0);
            if (!(set->gpus >> gpu & 1) || set->told[gpu] == xid)
                continue;
            set->told[gpu] = xid;
            if (!xid)
                continue;
            *to = (nvmlEventData_t){&devices[gpu], XID_EVENT, xid, ~0u, ~0u};
            return SUCCESS;
        }
        if (waited >= milliseconds)
            return TIMED_OUT;
        usleep(50000);
    }
}
nvmlReturn_t nvmlEventSetWait(events_t *set, nvmlEventData_t *to, unsigned milliseconds) { return nvmlEventSetWait_v2(set, to, milliseconds); }

/* MIG. */
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned *current, unsigned *pending) {
    int status = counted(device, "mig", current);
    if (!status)
        *pending = *current;
    return status;
}
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned *to) {
    unsigned mode;
    *to = 0;
    int status = counted(device, "mig", &mode);
    if (!status)
        *to = 7;
    return status == NOT_SUPPORTED ? SUCCESS : status;
}
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned index, nvmlDevice_t *to) {
    unsigned count;
    int status = counted(device, "mig_count", &count);
    if (status)
        return status;
    if (index >= count || index >= MIGS)
        return NOT_FOUND;
    *to = &migs[device->gpu][index];
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned *to) { *to = device->mig >= 0; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t mig, nvmlDevice_t *to) { *to = &devices[mig->gpu]; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned *to) {
    if (device->mig < 0)
        return INVALID_ARGUMENT;
    *to = number(key_of(device, "instance"), 0);
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned *to) { *to = 0; return device->mig < 0 ? INVALID_ARGUMENT : SUCCESS; }
typedef struct {
    unsigned multiprocessorCount, sharedCopyEngineCount, sharedDecoderCount, sharedEncoderCount, sharedJpegCount, sharedOfaCount;
    unsigned gpuInstanceSliceCount, computeInstanceSliceCount;
    unsigned long long memorySizeMB;
} nvmlDeviceAttributes_t;
nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t *to) {
    if (device->mig < 0)
        return NOT_SUPPORTED;
    memset(to, 0, sizeof *to);
    to->multiprocessorCount = number(key_of(device, "sm"), 0);
    to->gpuInstanceSliceCount = to->computeInstanceSliceCount = number(key_of(device, "slices"), 0);
    to->memorySizeMB = number(key_of(device, "memory"), 0);
    return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t *to) { return nvmlDeviceGetAttributes_v2(device, to); }

/* No process runs on a simulated GPU. */
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *count, void *to) { (void)to; *count = 0; return usable(device); }
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned *count, void *to) { return nvmlDeviceGetComputeRunningProcesses_v3(device, count, to); }
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned *count, void *to) { return nvmlDeviceGetComputeRunningProcesses_v3(device, count, to); }
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned *count, void *to) { return nvmlDeviceGetComputeRunningProcesses_v3(device, count, to); }
