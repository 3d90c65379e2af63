/*
 * A file system in memory, by the kernel's FUSE, that loses at a power cut what was not forced: octets of files that no fsync or
 * msync has reached, mapped pages included, and names in directories that were not forced. For tests, as root:
 *
 *   cutdisk MOUNT_POINT SEED
 *
 * It says "mounted", reads commands from standard input, a line each, and answers each with a line:
 *
 *   cut COUNT PID TEAR  after COUNT more changes kills the process and cuts the power (then it says "cut"). With TEAR 1 random
 *                       pages, and names of random directories, stay although they were not forced
 *   mount               mounts what the cut has left ("mounted")
 *   fail ERRNO NAME     changes of files whose names contain NAME fail, with - those of all files; ERRNO 0 ends this
 *   deny ERRNO NAME     the same for reads
 *   evict NAME          the kernel forgets its pages of these files, changed ones are written before
 *   slow MS             each change takes so long, or until the next command
 *
 * "changes N" at the end of its input tells the number of changes. One thread; the pages are lost with the process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define MAX_INODES 65536
#define MAX_WRITE (1 << 20)
#define NAME_BYTES 256
#define ROOT 1
#define FOREVER 1000000

struct names { struct name { unsigned long inode; char text[NAME_BYTES]; } *list; int count; };
struct octets { char *data; size_t size, capacity; };
struct inode {
    int used, links;
    unsigned mode, uid, gid;
    unsigned long lookups;
    time_t changed;
    char label[NAME_BYTES]; /* the name it was made with, or got last */
    struct names names, kept_names;
    struct octets octets, kept;
    unsigned char *dirty; /* a flag for each page */
    size_t dirty_pages;
};

static struct inode inodes[MAX_INODES];
static int last_inode = ROOT, device = -1, fail_errno, deny_errno, slow_ms, tear;
static long changes, cut_after = -1;
static pid_t victim;
static char fail_name[NAME_BYTES], deny_name[NAME_BYTES];
static const char *mount_point;
static char request[MAX_WRITE + 2 * PAGE];

static void say(const char *text) {
    printf("%s\n", text);
    fflush(stdout);
}

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void resize(struct octets *octets, size_t size) {
    if (size > octets->capacity) {
        size_t capacity = size + size / 4 + PAGE;
        octets->data = realloc(octets->data, capacity);
        if (octets->data == NULL) die("memory");
        memset(octets->data + octets->capacity, 0, capacity - octets->capacity);
        octets->capacity = capacity;
    }
    if (size < octets->size) memset(octets->data + size, 0, octets->size - size);
    octets->size = size;
}

static void touch(struct inode *inode, size_t begin, size_t end) {
    size_t pages = (end + PAGE - 1) / PAGE;
    if (pages > inode->dirty_pages) {
        inode->dirty = realloc(inode->dirty, 2 * pages);
        memset(inode->dirty + inode->dirty_pages, 0, 2 * pages - inode->dirty_pages);
        inode->dirty_pages = 2 * pages;
    }
    for (size_t page = begin / PAGE; page < pages; page++) inode->dirty[page] = 1;
    inode->changed = time(NULL);
}

static void keep_page(struct inode *inode, size_t page) {
    size_t begin = page * PAGE, end = begin + PAGE;
    if (end > inode->octets.size) end = inode->octets.size;
    if (end > inode->kept.size) end = inode->kept.size;
    if (begin < end) memcpy(inode->kept.data + begin, inode->octets.data + begin, end - begin);
}

static void force(struct inode *inode) {
    resize(&inode->kept, inode->octets.size);
    for (size_t page = 0; page < inode->dirty_pages; page++) {
        if (inode->dirty[page]) keep_page(inode, page);
        inode->dirty[page] = 0;
    }
}

static void copy_names(struct names *to, const struct names *from) {
    to->list = realloc(to->list, (from->count + 1) * sizeof(struct name));
    if (from->count > 0) memcpy(to->list, from->list, from->count * sizeof(struct name));
    to->count = from->count;
}

static struct name *find(struct inode *directory, const char *text) {
    for (int i = 0; i < directory->names.count; i++) {
        struct name *name = &directory->names.list[i];
        if (name->inode != 0 && strcmp(name->text, text) == 0) return name;
    }
    return NULL;
}

static void add_name(struct inode *directory, const char *text, unsigned long inode) {
    struct names *names = &directory->names;
    int at = 0;
    while (at < names->count && names->list[at].inode != 0) at++;
    if (at == names->count) names->list = realloc(names->list, ++names->count * sizeof(struct name));
    names->list[at].inode = inode;
    snprintf(names->list[at].text, NAME_BYTES, "%s", text);
    snprintf(inodes[inode].label, NAME_BYTES, "%s", text);
}

static void discard(struct inode *inode) {
    free(inode->octets.data);
    free(inode->kept.data);
    free(inode->dirty);
    free(inode->names.list);
    free(inode->kept_names.list);
    memset(inode, 0, sizeof *inode);
}

static int is_kept(unsigned long number) {
    for (int i = ROOT; i <= last_inode; i++) {
        for (int k = 0; k < inodes[i].kept_names.count; k++) {
            if (inodes[i].kept_names.list[k].inode == number) return 1;
        }
    }
    return 0;
}

static void forget(unsigned long number, unsigned long count) {
    struct inode *inode = &inodes[number];
    inode->lookups -= count < inode->lookups ? count : inode->lookups;
    if (number != ROOT && inode->used && inode->lookups == 0 && inode->links == 0 && !is_kept(number)) discard(inode);
}

static unsigned long make(unsigned mode) {
    int number = ROOT + 1;
    while (number <= last_inode && inodes[number].used) number++;
    if (number == MAX_INODES) return 0;
    if (number > last_inode) last_inode = number;
    inodes[number] = (struct inode){.used = 1, .links = 1, .mode = mode, .changed = time(NULL)};
    return number;
}

static void revert(struct inode *inode, int *reachable) {
    if (S_ISDIR(inode->mode)) {
        if (tear && random() % 2) copy_names(&inode->kept_names, &inode->names);
        copy_names(&inode->names, &inode->kept_names);
        for (int i = 0; i < inode->names.count; i++) {
            unsigned long number = inode->names.list[i].inode;
            if (number != 0 && !reachable[number]) {
                reachable[number] = 1;
                revert(&inodes[number], reachable);
            }
        }
        return;
    }
    if (tear) {
        if (inode->octets.size > inode->kept.size && random() % 2) resize(&inode->kept, inode->octets.size);
        for (size_t page = 0; page < inode->dirty_pages; page++) {
            if (inode->dirty[page] && random() % 2) keep_page(inode, page);
        }
    }
    resize(&inode->octets, 0);
    resize(&inode->octets, inode->kept.size);
    if (inode->kept.size > 0) memcpy(inode->octets.data, inode->kept.data, inode->kept.size);
    if (inode->dirty != NULL) memset(inode->dirty, 0, inode->dirty_pages);
}

static void cut(void) {
    static int reachable[MAX_INODES];
    if (victim > 0) kill(victim, SIGKILL);
    memset(reachable, 0, sizeof reachable);
    reachable[ROOT] = 1;
    revert(&inodes[ROOT], reachable);
    for (int i = ROOT + 1; i <= last_inode; i++) {
        inodes[i].lookups = 0;
        inodes[i].links = reachable[i];
        if (inodes[i].used && !reachable[i]) discard(&inodes[i]);
    }
    close(device);
    device = -1;
    umount2(mount_point, MNT_DETACH);
    cut_after = -1;
    say("cut");
}

static void mount_it(void) {
    char options[128];
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0) die("/dev/fuse");
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions", device);
    if (mount("cutdisk", mount_point, "fuse", MS_NOSUID | MS_NODEV, options) != 0) die("mount");
}

static void reply(const struct fuse_in_header *in, int error, const void *data, size_t length) {
    struct fuse_out_header out = {.len = sizeof out + (error ? 0 : length), .error = -error, .unique = in->unique};
    struct iovec parts[2] = {{&out, sizeof out}, {(void *)data, error ? 0 : length}};
    if (writev(device, parts, 2) < 0 && errno != ENOENT && errno != ENODEV) perror("reply");
}

static struct fuse_attr attributes(unsigned long number) {
    struct inode *inode = &inodes[number];
    return (struct fuse_attr){.ino = number, .size = inode->octets.size, .blocks = (inode->octets.size + 511) / 512,
        .mtime = inode->changed, .ctime = inode->changed, .atime = inode->changed, .mode = inode->mode,
        .nlink = inode->links, .uid = inode->uid, .gid = inode->gid, .blksize = PAGE};
}

static struct fuse_entry_out entry(unsigned long number) {
    inodes[number].lookups++;
    return (struct fuse_entry_out){.nodeid = number, .entry_valid = FOREVER, .attr_valid = FOREVER, .attr = attributes(number)};
}

static void reply_attributes(const struct fuse_in_header *in) {
    struct fuse_attr_out out = {.attr_valid = FOREVER, .attr = attributes(in->nodeid)};
    reply(in, 0, &out, sizeof out);
}

static int matches(const char *pattern, const char *label) {
    return pattern[0] == '-' || strstr(label, pattern) != NULL;
}

/* Returns -1 if the power went, or what the change is to fail with. */
static int change(const char *label) {
    changes++;
    if (cut_after >= 0 && cut_after-- == 0) {
        cut();
        return -1;
    }
    if (slow_ms > 0) poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, slow_ms);
    return fail_errno != 0 && matches(fail_name, label) ? fail_errno : 0;
}

static void make_file(const struct fuse_in_header *in, unsigned mode, const char *name, int is_open) {
    struct { struct fuse_entry_out entry; struct fuse_open_out open; } out = {0};
    unsigned long number = make(mode);
    inodes[number].uid = in->uid;
    inodes[number].gid = in->gid;
    add_name(&inodes[in->nodeid], name, number);
    out.entry = entry(number);
    reply(in, 0, &out, is_open ? sizeof out : sizeof out.entry);
}

static void set_attributes(const struct fuse_in_header *in, const struct fuse_setattr_in *set) {
    struct inode *inode = &inodes[in->nodeid];
    if (set->valid & FATTR_MODE) inode->mode = (inode->mode & S_IFMT) | (set->mode & 07777);
    if (set->valid & FATTR_UID) inode->uid = set->uid;
    if (set->valid & FATTR_GID) inode->gid = set->gid;
    if (set->valid & FATTR_SIZE) {
        size_t from = set->size < inode->octets.size ? set->size : inode->octets.size;
        resize(&inode->octets, set->size);
        touch(inode, from, set->size);
    }
    reply_attributes(in);
}

static void remove_name(const struct fuse_in_header *in, const char *text, int is_directory) {
    struct name *name = find(&inodes[in->nodeid], text);
    if (name == NULL) {
        reply(in, ENOENT, NULL, 0);
        return;
    }
    struct inode *inode = &inodes[name->inode];
    for (int i = 0; is_directory && i < inode->names.count; i++) {
        if (inode->names.list[i].inode != 0) {
            reply(in, ENOTEMPTY, NULL, 0);
            return;
        }
    }
    inode->links = 0;
    name->inode = 0;
    reply(in, 0, NULL, 0);
}

static void rename_it(const struct fuse_in_header *in, unsigned long new_directory, const char *names) {
    const char *new_text = names + strlen(names) + 1;
    struct name *from = find(&inodes[in->nodeid], names);
    if (from == NULL) {
        reply(in, ENOENT, NULL, 0);
        return;
    }
    unsigned long number = from->inode;
    struct name *to = find(&inodes[new_directory], new_text);
    from->inode = 0;
    if (to != NULL) {
        inodes[to->inode].links = 0;
        to->inode = 0;
    }
    add_name(&inodes[new_directory], new_text, number);
    reply(in, 0, NULL, 0);
}

static void list(const struct fuse_in_header *in, const struct fuse_read_in *read_in) {
    static char out[MAX_WRITE];
    struct names *names = &inodes[in->nodeid].names;
    size_t length = 0;
    for (int i = read_in->offset; i < names->count; i++) {
        size_t name_length = strlen(names->list[i].text);
        struct fuse_dirent *dirent = (struct fuse_dirent *)(out + length);
        if (names->list[i].inode == 0) continue;
        if (length + FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + name_length) > read_in->size) break;
        *dirent = (struct fuse_dirent){.ino = names->list[i].inode, .off = i + 1, .namelen = name_length,
            .type = inodes[names->list[i].inode].mode >> 12};
        memcpy(out + length + FUSE_NAME_OFFSET, names->list[i].text, name_length);
        length += FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + name_length);
    }
    reply(in, 0, out, length);
}

static void start(const struct fuse_in_header *in, const struct fuse_init_in *init) {
    struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
        .max_readahead = init->max_readahead, .flags = FUSE_BIG_WRITES | FUSE_MAX_PAGES, .max_background = 64,
        .congestion_threshold = 48, .max_write = MAX_WRITE, .time_gran = 1, .max_pages = MAX_WRITE / PAGE};
    reply(in, 0, &out, sizeof out);
}

static int is_change(unsigned opcode) {
    switch (opcode) {
        case FUSE_WRITE: case FUSE_FSYNC: case FUSE_FSYNCDIR: case FUSE_SETATTR: case FUSE_CREATE: case FUSE_MKNOD:
        case FUSE_MKDIR: case FUSE_UNLINK: case FUSE_RMDIR: case FUSE_RENAME: case FUSE_RENAME2: return 1;
        default: return 0;
    }
}

static void write_it(const struct fuse_in_header *in, const struct fuse_write_in *write_in) {
    struct inode *inode = &inodes[in->nodeid];
    struct fuse_write_out out = {.size = write_in->size};
    size_t end = write_in->offset + write_in->size;
    if (end > inode->octets.size) resize(&inode->octets, end);
    memcpy(inode->octets.data + write_in->offset, write_in + 1, write_in->size);
    touch(inode, write_in->offset, end);
    reply(in, 0, &out, sizeof out);
}

static void read_it(const struct fuse_in_header *in, const struct fuse_read_in *read_in) {
    struct inode *inode = &inodes[in->nodeid];
    size_t left = read_in->offset < inode->octets.size ? inode->octets.size - read_in->offset : 0;
    int error = deny_errno != 0 && matches(deny_name, inode->label) ? deny_errno : 0;
    reply(in, error, left == 0 ? NULL : inode->octets.data + read_in->offset, left < read_in->size ? left : read_in->size);
}

static void handle(const struct fuse_in_header *in) {
    const void *body = in + 1;
    struct inode *inode = &inodes[in->nodeid];
    struct name *name;
    int error = 0;
    if (is_change(in->opcode)) {
        const char *label = inode->label;
        if (in->opcode == FUSE_CREATE) label = (const char *)body + sizeof(struct fuse_create_in);
        if (in->opcode == FUSE_MKDIR) label = (const char *)body + sizeof(struct fuse_mkdir_in);
        if (in->opcode == FUSE_RENAME) label = (const char *)body + sizeof(struct fuse_rename_in);
        if (in->opcode == FUSE_RENAME2) label = (const char *)body + sizeof(struct fuse_rename2_in);
        if (in->opcode == FUSE_UNLINK || in->opcode == FUSE_RMDIR) label = body;
        error = change(label);
        if (error != 0) {
            if (error > 0) reply(in, error, NULL, 0);
            return;
        }
    }
    switch (in->opcode) {
        case FUSE_INIT: start(in, body); break;
        case FUSE_FORGET: forget(in->nodeid, ((const struct fuse_forget_in *)body)->nlookup); break;
        case FUSE_BATCH_FORGET: {
            const struct fuse_batch_forget_in *batch = body;
            const struct fuse_forget_one *one = (const struct fuse_forget_one *)(batch + 1);
            for (unsigned i = 0; i < batch->count; i++) forget(one[i].nodeid, one[i].nlookup);
            break;
        }
        case FUSE_INTERRUPT: break;
        case FUSE_LOOKUP:
            name = find(inode, body);
            if (name == NULL) {
                reply(in, ENOENT, NULL, 0);
            } else {
                struct fuse_entry_out out = entry(name->inode);
                reply(in, 0, &out, sizeof out);
            }
            break;
        case FUSE_GETATTR: reply_attributes(in); break;
        case FUSE_SETATTR: set_attributes(in, body); break;
        case FUSE_CREATE: {
            const struct fuse_create_in *create = body;
            make_file(in, create->mode, (const char *)(create + 1), 1);
            break;
        }
        case FUSE_MKNOD: {
            const struct fuse_mknod_in *node = body;
            make_file(in, node->mode, (const char *)(node + 1), 0);
            break;
        }
        case FUSE_MKDIR: {
            const struct fuse_mkdir_in *directory = body;
            make_file(in, S_IFDIR | (directory->mode & 07777), (const char *)(directory + 1), 0);
            break;
        }
        case FUSE_UNLINK: remove_name(in, body, 0); break;
        case FUSE_RMDIR: remove_name(in, body, 1); break;
        case FUSE_RENAME:
            rename_it(in, ((const struct fuse_rename_in *)body)->newdir, (const char *)body + sizeof(struct fuse_rename_in));
            break;
        case FUSE_RENAME2:
            if (((const struct fuse_rename2_in *)body)->flags != 0) {
                reply(in, EINVAL, NULL, 0);
            } else {
                rename_it(
                    in, ((const struct fuse_rename2_in *)body)->newdir, (const char *)body + sizeof(struct fuse_rename2_in));
            }
            break;
        case FUSE_OPEN: case FUSE_OPENDIR: {
            struct fuse_open_out out = {.open_flags = in->opcode == FUSE_OPEN ? FOPEN_KEEP_CACHE : 0};
            reply(in, 0, &out, sizeof out);
            break;
        }
        case FUSE_READ: read_it(in, body); break;
        case FUSE_READDIR: list(in, body); break;
        case FUSE_WRITE: write_it(in, body); break;
        case FUSE_FSYNC: force(inode); reply(in, 0, NULL, 0); break;
        case FUSE_FSYNCDIR: copy_names(&inode->kept_names, &inode->names); reply(in, 0, NULL, 0); break;
        case FUSE_FLUSH: case FUSE_RELEASE: case FUSE_RELEASEDIR: reply(in, 0, NULL, 0); break;
        case FUSE_STATFS: {
            struct fuse_statfs_out out = {.st = {.blocks = 1 << 20, .bfree = 1 << 19, .bavail = 1 << 19, .files = MAX_INODES,
                .ffree = MAX_INODES / 2, .bsize = PAGE, .namelen = NAME_BYTES - 1, .frsize = PAGE}};
            reply(in, 0, &out, sizeof out);
            break;
        }
        case FUSE_FALLOCATE: reply(in, EOPNOTSUPP, NULL, 0); break;
        default: reply(in, ENOSYS, NULL, 0);
    }
}

/* In a child: the kernel writes changed pages while it forgets them, which this process serves. */
static void evict(const char *pattern) {
    for (unsigned long i = ROOT; i <= (unsigned long)last_inode; i++) {
        if (inodes[i].used && S_ISREG(inodes[i].mode) && matches(pattern, inodes[i].label)) {
            struct fuse_out_header out = {.len = sizeof out + sizeof(struct fuse_notify_inval_inode_out),
                .error = FUSE_NOTIFY_INVAL_INODE};
            struct fuse_notify_inval_inode_out inval = {.ino = i};
            struct iovec parts[2] = {{&out, sizeof out}, {&inval, sizeof inval}};
            if (writev(device, parts, 2) < 0 && errno != ENOENT) perror("evict");
        }
    }
}

static void obey(const char *line) {
    char pattern[NAME_BYTES] = "-";
    int number = 0;
    if (sscanf(line, "cut %ld %d %d", &cut_after, &victim, &tear) == 3) {
        say("armed");
        if (cut_after == 0) cut();
    } else if (strncmp(line, "mount", 5) == 0) {
        mount_it();
        say("mounted");
    } else if (sscanf(line, "fail %d %255s", &number, pattern) == 2) {
        fail_errno = number;
        strcpy(fail_name, pattern);
        say("ok");
    } else if (sscanf(line, "deny %d %255s", &number, pattern) == 2) {
        deny_errno = number;
        strcpy(deny_name, pattern);
        say("ok");
    } else if (sscanf(line, "slow %d", &slow_ms) == 1) {
        say("ok");
    } else if (sscanf(line, "evict %255s", pattern) == 1) {
        if (fork() == 0) {
            evict(pattern);
            say("evicted");
            _exit(0);
        }
    } else {
        say("unknown");
    }
}

int main(int argc, char **argv) {
    char line[512];
    if (argc != 3) {
        fprintf(stderr, "cutdisk MOUNT_POINT SEED\n");
        return 64;
    }
    mount_point = argv[1];
    srandom(atoi(argv[2]));
    signal(SIGCHLD, SIG_IGN);
    setvbuf(stdin, NULL, _IONBF, 0);
    inodes[ROOT] = (struct inode){.used = 1, .links = 1, .mode = S_IFDIR | 0755, .changed = time(NULL)};
    mount_it();
    say("mounted");
    for (;;) {
        struct pollfd polls[2] = {{.fd = 0, .events = POLLIN}, {.fd = device, .events = POLLIN}};
        if (poll(polls, 2, -1) < 0 && errno != EINTR) die("poll");
        if (polls[0].revents != 0) {
            if (fgets(line, sizeof line, stdin) == NULL) break;
            obey(line);
        } else if (polls[1].revents & POLLIN) {
            ssize_t length = read(device, request, sizeof request);
            if (length >= (ssize_t)sizeof(struct fuse_in_header)) handle((const struct fuse_in_header *)request);
        } else if (polls[1].revents & POLLERR) {
            break; /* unmounted by others */
        }
    }
    printf("changes %ld\n", changes);
    umount2(mount_point, MNT_DETACH);
    return 0;
}
