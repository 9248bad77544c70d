// SPDX-License-Identifier: GPL-2.0-only
/* Finds and parses CIEs and FDEs. */
#include "cfi.h"

#include <errno.h>
#include <string.h>

#include "arch_elf.h"
#include "arch_regs.h"

#define MAX_CIE_WORK 4 /* times the section's size: valid files need much less */
#define MAX_AUGMENTATION 16

/* Pointer encodings (LSB 5.0 core, 10.5). */
enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_ALIGNED = 0x50,
	PE_RELATIVE = 0x70,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
};

/* ---- the section ----------------------------------------------------------------------------- */

static bool value(struct cursor *c, uint8_t format, uint64_t *ret_v)
{
	switch (format & PE_FORMAT) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		*ret_v = cursor__uint(c, 8);
		break;
	case PE_ULEB128:
		*ret_v = cursor__uleb(c);
		break;
	case PE_UDATA2:
		*ret_v = cursor__uint(c, 2);
		break;
	case PE_UDATA4:
		*ret_v = cursor__uint(c, 4);
		break;
	case PE_SLEB128:
		*ret_v = (uint64_t)cursor__sleb(c);
		break;
	case PE_SDATA2:
		*ret_v = (uint64_t)cursor__int(c, 2);
		break;
	case PE_SDATA4:
		*ret_v = (uint64_t)cursor__int(c, 4);
		break;
	default:
		return false;
	}
	return !c->bad;
}

/* The address of the cursor's position. */
static uint64_t address_of(const struct unw_cfi *cfi, const struct cursor *c)
{
	return cfi->vaddr + (uint64_t)(c->p - cfi->bytes.p);
}

bool unw_cfi__address(const struct unw_cfi *cfi, uint8_t encoding, struct cursor *c,
		      uint64_t *ret_addr)
{
	uint64_t from = 0;

	switch (encoding & (PE_RELATIVE | PE_INDIRECT)) {
	case 0:
		break;
	case PE_PCREL:
		from = address_of(cfi, c);
		break;
	case PE_DATAREL:
		if (!cfi->base)
			return false;
		from = cfi->base;
		break;
	case PE_ALIGNED:
		cursor__take(c, -address_of(cfi, c) & 7);
		break;
	default:
		return false;
	}
	if (!value(c, encoding, ret_addr))
		return false;
	*ret_addr += from;
	return true;
}

/* Gets the address of .eh_frame and the number of its FDEs from .eh_frame_hdr. */
static int from_hdr(const struct unw_elf *elf, struct unw_cfi *cfi)
{
	const Elf64_Phdr *ph = unw_elf__phdr(elf, PT_GNU_EH_FRAME);
	uint64_t at = ph ? ph->p_vaddr : 0, count;
	struct unw_cfi hdr = { .vaddr = at, .base = at };
	struct cursor c;
	uint8_t version, encoding, count_encoding;
	int err;

	if (!ph)
		return -ENOENT;
	err = unw_elf__read_vaddr(elf, at, 4 + 2 * 10, &hdr.bytes);
	if (err)
		return err == -ERANGE ? -ENOENT : err;
	c = cursor__new(hdr.bytes.p, hdr.bytes.len);
	version = cursor__u8(&c);
	encoding = cursor__u8(&c);
	count_encoding = cursor__u8(&c);
	cursor__u8(&c);
	err = -ENOENT;
	if (version == 1 && unw_cfi__address(&hdr, encoding, &c, &cfi->vaddr)) {
		if (count_encoding == PE_OMIT || !value(&c, count_encoding, &count))
			count = UINT64_MAX;
		cfi->base = at;
		cfi->max_fdes = count;
		cfi->stop_at_zero = true;
		err = unw_elf__read_vaddr(elf, cfi->vaddr, UNW_MAX_BYTES, &cfi->bytes);
	}
	unw_bytes__drop(&hdr.bytes);
	return err == -ERANGE ? -ENOENT : err;
}

static int from_section(const struct unw_elf *elf, const char *name, struct unw_cfi *cfi)
{
	const Elf64_Shdr *s = elf_file__section(&elf->file, name);
	int err;

	if (!s || (s->sh_type != SHT_PROGBITS && s->sh_type != ARCH_ELF_SHT_UNWIND))
		return -ENOENT;
	cfi->vaddr = s->sh_addr;
	err = unw_elf__section_bytes(elf, s, &cfi->bytes);
	return err == -ENOMEM || err == -EIO || !err ? err : -ENOENT;
}

int unw_cfi__open_eh(const struct unw_elf *elf, struct unw_cfi *ret_cfi)
{
	const Elf64_Phdr *hdr = unw_elf__phdr(elf, PT_GNU_EH_FRAME);
	int err;

	*ret_cfi = (struct unw_cfi){ .eh = true, .max_fdes = UINT64_MAX };
	if (hdr)
		ret_cfi->base = hdr->p_vaddr;
	err = from_section(elf, ".eh_frame", ret_cfi);
	return err == -ENOENT ? from_hdr(elf, ret_cfi) : err;
}

int unw_cfi__open_debug(const struct unw_elf *elf, struct unw_cfi *ret_cfi)
{
	int err;

	*ret_cfi = (struct unw_cfi){ .max_fdes = UINT64_MAX };
	err = from_section(elf, ".debug_frame", ret_cfi);
	return err == -ENOENT ? from_section(elf, ".zdebug_frame", ret_cfi) : err;
}

void unw_cfi__close(struct unw_cfi *cfi)
{
	unw_bytes__drop(&cfi->bytes);
}

/* ---- entries --------------------------------------------------------------------------------- */

struct entry {
	uint64_t id_pos; /* position of the id in the section */
	uint64_t id;
	bool is_cie, is_zero;
	struct cursor body; /* after the id, to the entry's end */
};

static bool read_entry(const struct unw_cfi *cfi, uint64_t pos, struct entry *ret_entry)
{
	struct cursor c;
	bool wide = false;
	uint64_t len;

	if (pos > cfi->bytes.len)
		return false;
	c = cursor__new(cfi->bytes.p + pos, cfi->bytes.len - pos);
	len = cursor__uint(&c, 4);
	if (len == 0xffffffff) {
		wide = true;
		len = cursor__uint(&c, 8);
	}
	if (c.bad || len > cursor__left(&c))
		return false;
	c.end = c.p + len;
	*ret_entry = (struct entry){
		.id_pos = (uint64_t)(c.p - cfi->bytes.p),
		.is_zero = !len,
	};
	if (cfi->eh) {
		ret_entry->id = cursor__uint(&c, 4);
		ret_entry->is_cie = !ret_entry->id;
	} else {
		ret_entry->id = cursor__uint(&c, wide ? 8 : 4);
		ret_entry->is_cie = ret_entry->id == (wide ? UINT64_MAX : UINT32_MAX);
	}
	ret_entry->body = c;
	return !c.bad || !len;
}

static bool read_augmentation(const struct unw_cfi *cfi, const char *aug, struct cursor *c,
			      struct unw_cie *cie)
{
	struct cursor data;
	uint64_t len, ignored;
	uint8_t encoding;

	if (!*aug)
		return true;
	if (*aug++ != 'z')
		return false;
	cie->sized = true;
	len = cursor__uleb(c);
	data = *c;
	if (!cursor__take(c, len))
		return false;
	data.end = c->p;
	for (; *aug; aug++) {
		switch (*aug) {
		case 'R':
			cie->encoding = cursor__u8(&data);
			break;
		case 'P': /* a personality routine, which is ignored, readable or not */
			encoding = cursor__u8(&data) & ~PE_INDIRECT;
			if ((encoding & PE_RELATIVE) != PE_ALIGNED)
				encoding &= PE_FORMAT;
			if (!unw_cfi__address(cfi, encoding, &data, &ignored))
				return false;
			break;
		case 'L':
			cursor__u8(&data);
			break;
		case 'S':
			cie->initial.signal = true;
			break;
		default:
			return false;
		}
	}
	return !data.bad;
}

static bool read_cie(struct unw_cfi *cfi, uint64_t pos, struct unw_cie *cie)
{
	struct cursor c;
	struct entry e;
	const char *aug;
	uint8_t version;

	if (!read_entry(cfi, pos, &e) || !e.is_cie || cfi->cie_work > MAX_CIE_WORK * cfi->bytes.len)
		return false;
	c = e.body;
	cfi->cie_work += cursor__left(&c);
	version = cursor__u8(&c);
	if (version != 1 && version != 3 && version != 4)
		return false;
	aug = (const char *)c.p;
	if (!cursor__take(&c, strnlen(aug, cursor__left(&c)) + 1) || strlen(aug) > MAX_AUGMENTATION)
		return false;
	if (version == 4 && (cursor__u8(&c) != 8 || cursor__u8(&c) != 0))
		return false; /* unsupported size of addresses or segments */
	cie->code_align = cursor__uleb(&c);
	cie->data_align = cursor__sleb(&c);
	cie->ra_reg = version == 1 ? cursor__u8(&c) : cursor__uleb(&c);
	if (!read_augmentation(cfi, aug, &c, cie) || c.bad)
		return false;
	return unw_cfi__initial(cfi, cie, c);
}

/* NULL: there is no CIE, or it cannot be read. */
static const struct unw_cie *find_cie(struct unw_cfi *cfi, uint64_t pos)
{
	struct unw_cie *cie = &cfi->cies[(pos ^ pos >> 8) / 4 % UNW_CIE_CACHE];

	if (cie->pos != pos + 1) {
		*cie = (struct unw_cie){ .pos = pos + 1 };
		cie->ok = read_cie(cfi, pos, cie);
	}
	return cie->ok ? cie : NULL;
}

static bool read_fde(struct unw_cfi *cfi, const struct entry *e, struct unw_fde *ret_fde)
{
	struct cursor c = e->body;
	uint64_t len;

	if (cfi->eh && e->id > e->id_pos)
		return false;
	ret_fde->cie = find_cie(cfi, cfi->eh ? e->id_pos - e->id : e->id);
	if (!ret_fde->cie || !unw_cfi__address(cfi, ret_fde->cie->encoding, &c, &ret_fde->start) ||
	    !value(&c, ret_fde->cie->encoding, &len) || !len)
		return false;
	if (ret_fde->cie->sized)
		cursor__take(&c, cursor__uleb(&c));
	if (__builtin_add_overflow(ret_fde->start, len, &ret_fde->end))
		ret_fde->end = UINT64_MAX;
	ret_fde->insns = c;
	return !c.bad;
}

bool unw_cfi__fde(struct unw_cfi *cfi, uint64_t pos, struct unw_fde *ret_fde)
{
	struct entry e;

	return read_entry(cfi, pos, &e) && !e.is_cie && !e.is_zero && read_fde(cfi, &e, ret_fde);
}

int unw_cfi__each(struct unw_cfi *cfi,
		  int (*fn)(void *ctx, uint64_t pos, const struct unw_fde *fde), void *ctx)
{
	uint64_t pos = 0, left = cfi->max_fdes;
	struct unw_fde fde;
	struct entry e;
	int err = 0;

	for (; !err && left && pos < cfi->bytes.len && read_entry(cfi, pos, &e);
	     pos = (uint64_t)(e.body.end - cfi->bytes.p)) {
		if (e.is_zero && cfi->stop_at_zero)
			break;
		if (e.is_zero || e.is_cie)
			continue;
		left--;
		if (read_fde(cfi, &e, &fde))
			err = fn(ctx, pos, &fde);
	}
	return err;
}
