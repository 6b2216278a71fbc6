package interop

import "google.golang.org/grpc/codes"

// What a client of v2 does with each service, and a client of v2beta1 under the older name.
var cyclesV2 = map[string][]Step{
	"ping": {{Method: "ping.v2.PingService/Ping", Request: `{}`}},
	"group": {
		{Method: "iam.v2.GroupsService/CreateGroup", Request: `{"parent":"$org","group":{"name":"$run"}}`, Want: `{"name":"$run"}`, Keep: "group=uid"},
		{Method: "iam.v2.GroupsService/UpdateGroup", Request: `{"group":{"uid":"$group","description":"words"},"update_mask":"description"}`, Want: `{"name":"$run","description":"words"}`},
		{Method: "iam.v2.GroupsService/GetGroup", Request: `{"uid":"$group"}`, Want: `{"description":"words"}`},
		{Method: "iam.v2.GroupsService/ListGroups", Request: `{"name":"$run"}`, Want: `{"groups":[{"uid":"$group"}]}`},
		{Method: "iam.v2.GroupsService/DeleteGroup", Request: `{"uid":"$group"}`},
		{Method: "iam.v2.GroupsService/GetGroup", Request: `{"uid":"$group"}`, Code: codes.NotFound},
	},
	"repo and tag": {
		{Method: "registry.v2.ReposService/CreateRepo", Request: `{"parent":"$org","repo":{"name":"$run"}}`, Want: `{"name":"$run"}`, Keep: "repo=uid"},
		{Method: "registry.v2.ReposService/UpdateRepo", Request: `{"repo":{"uid":"$repo","description":"words"},"update_mask":"description"}`, Want: `{"description":"words"}`},
		{Method: "registry.v2.TagsService/CreateTag", Request: `{"parent":"$repo","tag":{"name":"1.0","digest":"` + digestA + `"}}`, Want: `{"digest":"` + digestA + `"}`, Keep: "tag=uid"},
		{Method: "registry.v2.TagsService/GetTag", Request: `{"uid":"$tag"}`, Want: `{"name":"1.0"}`},
		{Method: "registry.v2.TagsService/DeleteTag", Request: `{"uid":"$tag"}`},
		{Method: "registry.v2.ReposService/DeleteRepo", Request: `{"uid":"$repo"}`},
	},
	"role, identity and binding": {
		{Method: "iam.v2.GroupsService/CreateGroup", Request: `{"parent":"$org","group":{"name":"$run bound"}}`, Keep: "group=uid"},
		{Method: "iam.v2.RolesService/CreateRole", Request: `{"parent":"$group","role":{"name":"reader","capabilities":["CAP_IAM_GROUPS_LIST"]}}`, Want: `{"capabilities":["CAP_IAM_GROUPS_LIST"]}`, Keep: "role=uid"},
		{Method: "iam.v2.IdentitiesService/CreateIdentity", Request: `{"parent":"$group","identity":{"name":"robot","claim_match":{"issuer":"https://i.example","subject":"$run v2"}}}`, Want: `{"claim_match":{"subject":"$run v2"}}`, Keep: "identity=uid"},
		{Method: "iam.v2.RoleBindingsService/CreateRoleBinding", Request: `{"parent":"$group","role_binding":{"identity_uid":"$identity","role_uid":"$role"}}`, Keep: "binding=uid"},
		{Method: "iam.v2.RoleBindingsService/GetRoleBinding", Request: `{"uid":"$binding"}`, Want: `{"uid":"$binding"}`},
		{Method: "iam.v2.RoleBindingsService/DeleteRoleBinding", Request: `{"uid":"$binding"}`},
		{Method: "iam.v2.IdentitiesService/DeleteIdentity", Request: `{"uid":"$identity"}`},
		{Method: "iam.v2.RolesService/DeleteRole", Request: `{"uid":"$role"}`},
		{Method: "iam.v2.GroupsService/DeleteGroup", Request: `{"uid":"$group"}`},
	},
	"subscription": {
		{Method: "events.v2.SubscriptionsService/CreateSubscription", Request: `{"parent":"$org","subscription":{"sink":"https://localhost:9/$run"}}`, Want: `{"sink":"https://localhost:9/$run"}`, Keep: "subscription=uid"},
		{Method: "events.v2.SubscriptionsService/GetSubscription", Request: `{"uid":"$subscription"}`, Want: `{"uid":"$subscription"}`},
		{Method: "events.v2.SubscriptionsService/DeleteSubscription", Request: `{"uid":"$subscription"}`},
	},
	"reads": {
		{Method: "registry.v2.ReposService/ListRepos", Request: `{"page_size":2}`},
		{Method: "iam.v2.IdentityProvidersService/ListIdentityProviders", Request: `{}`},
		{Method: "vulnerabilities.v2.AdvisoriesService/ListAdvisories", Request: `{"page_size":2}`},
	},
}
