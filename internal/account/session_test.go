package account_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"unitask/internal/account"
	"unitask/internal/task"
)

func TestLinkOpensASessionOfItsOwn(t *testing.T) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	link, token := account.NewLink("acct_1", account.Member{Name: "ann", Role: account.RoleMember, JoinedAt: now}, now)
	if link.Hash != account.HashSecret(token) || len(token) != 43 {
		t.Errorf("token %q for a link known by %s", token, link.Hash)
	}
	session, cookie, ok := link.Open("Firefox on Linux", now.Add(account.LinkLife-1))
	want := account.Session{
		Hash: account.HashSecret(cookie), Account: "acct_1", Member: "ann", Role: account.RoleMember, Agent: "Firefox on Linux", InvitedAt: now,
		CreatedAt: now.Add(account.LinkLife - 1), SeenAt: now.Add(account.LinkLife - 1),
		ExpiresAt: now.Add(account.LinkLife - 1 + account.SessionLife),
	}
	if diff := cmp.Diff(want, session); !ok || diff != "" || cookie == token {
		t.Errorf("open %v, cookie as the link's %v (-want +got):\n%s", ok, cookie == token, diff)
	}
	if _, _, ok := link.Open("", now.Add(account.LinkLife)); ok {
		t.Error("an expired link opens a session")
	}
}

func TestSessionUsable(t *testing.T) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	owner := account.Account{ID: "acct_1"}.
		WithMember(account.Member{Name: "ann", Role: account.RoleMember, JoinedAt: now}).
		WithMember(account.Member{Name: "bob", Role: account.RoleOperator, JoinedAt: now})
	s := account.Session{Account: "acct_1", Member: "ann", Role: account.RoleMember, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(account.SessionLife)}
	again := func(role account.Role, joined, changed time.Time) account.Account {
		return account.Account{ID: "acct_1", Members: []account.Member{{Name: "ann", Role: role, JoinedAt: joined, RoleAt: changed}}}
	}
	for _, tt := range []struct {
		name  string
		owner account.Account
		at    time.Time
		want  bool
	}{
		{"a member", owner, now, true},
		{"just before it was idle for too long", owner, now.Add(account.SessionIdle - 1), true},
		{"idle for too long", owner, now.Add(account.SessionIdle), false},
		{"removed, and invited again since", again(account.RoleMember, now.Add(1), time.Time{}), now, false},
		{"promoted and demoted again since", again(account.RoleMember, now.Add(-2), now.Add(1)), now, false},
		{"of a role since before it", again(account.RoleMember, now.Add(-2), now), now, true},
		{"removed", owner.WithoutMember("ann"), now, false},
		{"of another role since", owner.WithMember(account.Member{Name: "ann", Role: account.RoleOperator}), now, false},
		{"of another account", account.Account{ID: "acct_2", Members: owner.Members}, now, false},
	} {
		if got := s.Usable(tt.owner, tt.at); got != tt.want {
			t.Errorf("%s: usable %v, want %v", tt.name, got, tt.want)
		}
	}
	seen := s
	seen.SeenAt = s.ExpiresAt.Add(-2)
	if !seen.Usable(owner, s.ExpiresAt.Add(-1)) || seen.Usable(owner, s.ExpiresAt) {
		t.Error("a session that is used must end with its life, and not before")
	}
	invited := s
	if invited.InvitedAt = now.Add(-1); invited.Usable(owner, now) {
		t.Error("a link from before the member was removed and invited again opens a session")
	}
	want := []account.Member{
		{Name: "ann", Role: account.RoleOperator, JoinedAt: now, RoleAt: now.Add(time.Hour)}, {Name: "bob", Role: account.RoleOperator, JoinedAt: now},
	}
	later := owner.WithMember(account.Member{Name: "ann", Role: account.RoleOperator, JoinedAt: now.Add(time.Hour)})
	if diff := cmp.Diff(want, later.Members); diff != "" {
		t.Errorf("a new role (-want +got):\n%s", diff)
	}
	if m, ok := owner.Member("ann"); !ok || m.Role != account.RoleMember {
		t.Errorf("the account was changed through a copy: %+v", m)
	}
}

// TestRotated: a key that replaces another shares its counters, however often.
func TestRotated(t *testing.T) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	first := account.Key{
		ID: "key_1", Account: "acct_1", Name: "shop", Mode: task.Live, Hash: task.Hash{1}, Hint: "aaaa", Scopes: []string{"text.*"},
		Limits: account.Limits{OpenTasks: 3}, CreatedAt: now, LastUsedAt: new(now),
	}
	later := now.Add(time.Hour)
	second := first.Rotated("key_2", task.Hash{2}, "bbbb", later)
	third := second.Rotated("key_3", task.Hash{3}, "cccc", later)
	want := first
	want.ID, want.Follows, want.Hash, want.Hint, want.CreatedAt, want.LastUsedAt = "key_3", "key_1", task.Hash{3}, "cccc", later, nil
	if diff := cmp.Diff(want, third); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, k := range []account.Key{first, second, third} {
		if k.Counter() != "key_1" {
			t.Errorf("%s is counted under %s", k.ID, k.Counter())
		}
	}
}

func TestDate(t *testing.T) {
	for text, want := range map[string]account.Date{"1970-01-01": 0, "2026-11-21": 20778, "1969-12-31": -1} {
		got, err := account.ParseDate(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s is %d (%s), %v; want %d", text, got, got, err, want)
		}
		if last := account.DateOf(got.Start().Add(24*time.Hour - 1)); last != want {
			t.Errorf("%s ends on %s", text, last)
		}
	}
	if _, err := account.ParseDate("21.11.2026"); err == nil {
		t.Error("a date of another form is taken")
	}
}
