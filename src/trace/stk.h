/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The .stk file: constants shared by writer and reader.  stk-format(5) is the specification.
 *
 * All integers are little-endian.  "varint" is LEB128, unsigned, at most 10 bytes; "svarint" is a
 * zigzag varint; "string" is a varint length and that many bytes, no NUL.
 *
 * file   = header block*
 * header = magic[8] u16 major u16 minor u32 header_size(=64) u8 uuid[16] u64 wall_ns
 *          u64 flags u8 zero[12] u32 crc32c(of the 60 bytes before)
 * block  = struct stk_block_header, then stored_len bytes of payload
 *
 * Blocks are self-contained given the tables before them.  Unknown types are skipped.  A block
 * whose header checksum is wrong ends the readable part (the tail of a torn write); one whose
 * payload checksum is wrong is counted and skipped.
 */
#ifndef TRACE_STK_H
#define TRACE_STK_H

#include <assert.h>
#include <stdint.h>

#define STK_MAGIC "\x89STK\r\n\x1a\n"
#define STK_MAJOR 1
#define STK_MINOR 4
#define STK_MINOR_LOSSES 2 /* the first with LOSSES blocks: when and where events were lost */
#define STK_HEADER_SIZE 64
#define STK_BLOCK_MAGIC 0x4b4c4253u /* "SBLK" */

#define STK_MAX_RAW (64u << 20) /* no block decompresses to more than this */
#define STK_MAX_STRING (1u << 20) /* nor is any string longer */
#define STK_MAX_META (256u << 20) /* but a value of the metadata, in parts */
#define STK_MAX_ID 64 /* bytes of a build id */
#define STK_MAX_FILES ((1u << 23) - 1) /* numbers that fit into a frame */
#define STK_MAX_RECORD 65536 /* nor any event's record */
#define STK_MAX_TYPES 65536
#define STK_MAX_CPUS 65536
#define STK_MAX_COLUMNS 256 /* of an event type; the rest of its record is tail */
#define STK_MAX_BLOCK_EVENTS (1u << 20)
#define STK_RECORD_HEAD 8 /* struct trace_entry: the common fields */

struct stk_block_header {
	uint32_t magic;
	uint16_t type; /* enum stk_block_type */
	uint16_t codec; /* enum stk_codec of the payload */
	uint32_t stored_len; /* bytes that follow */
	uint32_t raw_len; /* bytes after decompression, <= STK_MAX_RAW */
	uint32_t aux; /* by type; 0 where not stated */
	uint32_t payload_crc; /* CRC32C of the stored bytes */
	uint32_t events_crc; /* EVENTS: CRC32C of their header; else, and before 1.4, 0 */
	uint32_t header_crc; /* CRC32C of the 28 bytes before */
};
static_assert(sizeof(struct stk_block_header) == 32, "block header is 32 bytes on disk");

enum stk_codec { STK_CODEC_NONE = 0, STK_CODEC_ZSTD = 1 };

enum stk_block_type {
	/*
	 * pairs of (string key, string value) up to the end; a later value replaces an earlier one.
	 */
	STK_BLOCK_META = 1,
	/*
	 * to the end: varint index (dense, ascending, from 0), varint kind (enum stk_event_kind),
	 * string system, string name, string filter, string format (tracefs text), varint id
	 * (common_type), varint nr_columns (<= STK_MAX_COLUMNS), then per column: varint gap
	 * (offset - end of the column before it; the first: offset - 8), varint size (>= 1).
	 * The columns are the parts of the record that event blocks store one by one; the end of
	 * the last one (8 without columns) is the record's fixed size, <= STK_MAX_RECORD.
	 */
	STK_BLOCK_TYPES = 2,
	/* to the end: varint task (dense, from 1), varint tid, varint tgid, string comm */
	STK_BLOCK_TASKS = 3,
	/*
	 * caller tree: varint first (node number, dense, from 1), varint count, then count
	 * svarint (frame - frame of the previous node in this block, the first: - 0; wrapping
	 * u64), then count varint (number - parent number; parent 0 is the root, so a parent
	 * always comes before its child).  A frame is as in src/include/frame.h, outermost
	 * nearest the root.  Two nodes may have the same parent and frame: readers merge them.
	 */
	STK_BLOCK_NODES = 4,
	/*
	 * stacks: varint first (stack number, dense, from 1), varint count, varint generation
	 * (of the stack map they come from), varint flags (bit 0: imported), then per stack:
	 * varint node (0: empty stack) and, when imported, varint id, varint refs
	 */
	STK_BLOCK_STACKS = 5,
	/*
	 * kernel symbols, to the end: svarint (start - start of the previous, wrapping u64), varint
	 * size (0 unknown), string name, string module ("" for the kernel itself, "bpf" for BPF
	 * programs).  Name "": no symbol covers this range.  Where symbols overlap, a node has the
	 * symbol of the last block before it, or else of the first block after it; within one block
	 * the last symbol.
	 */
	STK_BLOCK_SYMBOLS = 6,
	/* aux: cpu.  Codec NONE: the payload is struct stk_events_header and two sections. */
	STK_BLOCK_EVENTS = 7,
	/*
	 * u64 round, u64 end_ts, u64 events so far, u64 wall_ns at the end of the round.
	 * After the marker of round r+1 no event older than end_ts of round r follows.
	 */
	STK_BLOCK_ROUND = 8,
	/*
	 * varint nr_counters, then to the end: varint event index, nr_counters varints in the
	 * order of enum stk_counter.  Absolute values; the last valid block counts.
	 */
	STK_BLOCK_ACCOUNTING = 9,
	/* reserved: file offsets of the ends of rounds, for seeking by time */
	STK_BLOCK_INDEX = 10,
	/* the recorder finished: pairs of strings like META ("reason", "exit_status") */
	STK_BLOCK_END = 11,
	/*
	 * file map, to the end: varint number (dense, ascending, from 1; or one known already),
	 * varint kind (enum stk_file_kind), varint flags (STK_FILE_...), string path, string host
	 * path, varint dev major, varint dev minor, varint inode, varint size, varint mtime_ns,
	 * varint id kind (enum stk_file_id), string id, varint pid, varint start_ns, varint base.
	 * For a known number the fields replace the earlier ones, except that new paths are an
	 * additional name.  A file comes before the first node that needs it.
	 */
	STK_BLOCK_FILES = 12,
	/*
	 * to the end: varint file, varint count, then per symbol: svarint (start - start of the
	 * previous of this file here, the first: - 0), varint size (0 unknown), string name (not
	 * demangled; "": no symbol covers this range).  The block holds every symbol that the
	 * frames of this file need, as far as there are any: a file that occurs here needs no other
	 * source.  The last occurrence counts.
	 */
	STK_BLOCK_USER_SYMBOLS = 13,
	/*
	 * to the end: varint stack, varint other stack.  The first number was a placeholder for the
	 * second, also in earlier events.  Only in files whose metadata contain "stacks.late".
	 */
	STK_BLOCK_ALIASES = 14,
	/*
	 * losses, to the end: varint event index + 1 (0: of any type), varint cpu + 1 (0: of any
	 * CPU), svarint (first_ts - first_ts of the loss before in this block, the first: - 0;
	 * wrapping u64), varint (last_ts - first_ts), varint count (0: unknown).  None of the count
	 * events happened before first_ts or after last_ts.  A loss precedes the event blocks of
	 * the round in which it was detected, which is at the latest the round after first_ts: when
	 * the rule of ROUND lets a reader deliver an event, it has read every loss that began
	 * before that event.  Losses at the very start or end of the recording are not listed.
	 */
	STK_BLOCK_LOSSES = 15,
	/*
	 * generated code that was replaced, to the end: svarint (file - file of the row before in
	 * this block, the first: - 0), svarint (offset - offset of the row before), svarint (ts -
	 * ts of the row before), varint other file.  From ts on, the user frames of file whose
	 * running or calling instruction has a byte at offset, which is one less than that of a
	 * return address, are frames of the other file, at the same offset.
	 */
	STK_BLOCK_REPLACED = 16,
	/*
	 * a part of a metadata value that is longer than a string: string key, varint length of the
	 * whole value (<= STK_MAX_META), varint offset of the part, then its bytes to the end (at
	 * least 1).  The parts of a value come in order, the first at offset 0, and those of
	 * another value not before the last one.
	 */
	STK_BLOCK_META_PART = 17,
};

/*
 * The payload of STK_BLOCK_EVENTS starts with this.  Then heads_stored bytes, then body_stored.
 *
 * A "plane table" of n values of width w is w runs of n bytes: byte 0 (the lowest) of each value,
 * then byte 1 of each, ...
 *
 * heads:
 *   varint nr_tuples (1 .. count), then one column of nr_tuples varints after the other:
 *     event index | task (0: unknown) | kstack | ustack (stack numbers, 0: none) | flags |
 *     preempt count | marks
 *   u8 token width (0-4; 0: all tokens are 0), u8 ts width (0-8)
 *   plane table of count tokens: index of the event's tuple
 *   plane table of count zigzag deltas: ts - ts of the event before (the first: - first_ts)
 *
 * body: for each event index that occurs in the block, ascending, with its n > 0 events that are
 * not marked STK_MARK_NO_FIELDS:
 *   varint nr_entries (1 .. n): records that differ outside the columns coded apart
 *   u8 token width, then u8 coding (enum stk_column_coding) per column, u8 coding of the tail
 *     (DICT or ROWS)
 *   varint record length (all of it, common fields included, 8 .. STK_MAX_RECORD) per entry
 *   per column with coding DICT: its bytes of every full entry (length >= fixed size)
 *   if the tail's coding is DICT: the tail of each entry
 *   plane table of n tokens: index of the event's entry
 *   per column with another coding, its values in all events with full entries: coded so
 *   if the tail's coding is ROWS: the tail of each event
 * The tail is what follows the fixed size; in a shorter record it is everything from byte 8.
 * Bytes of the record that no column covers read as zero.
 */
enum stk_column_coding {
	STK_CODING_DICT = 0, /* part of the entries */
	STK_CODING_ROWS = 1, /* one value after the other */
	STK_CODING_PLANES = 2, /* plane table; size 2, 4 or 8 */
	STK_CODING_DELTA = 3, /* plane table of zigzag(value - value before), wrapping, first - 0 */
};

struct stk_events_header {
	uint32_t count; /* events, 1 .. STK_MAX_BLOCK_EVENTS */
	uint32_t reserved; /* 0 */
	uint64_t round;
	uint64_t first_ts, min_ts, max_ts;
	uint32_t heads_stored, heads_raw, heads_codec;
	uint32_t body_stored, body_raw, body_codec;
};
static_assert(sizeof(struct stk_events_header) == 64, "events header is 64 bytes on disk");

#endif /* TRACE_STK_H */
