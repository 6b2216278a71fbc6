package interop

import "google.golang.org/grpc/codes"

const digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
const digestB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

// What a client of v1 does with each service. `$org` is the organization, `$run` differs from run to run.
var cyclesV1 = map[string][]Step{
	"ping": {{Method: "ping.PingService/Ping", Request: `{}`}},
	"group": {
		{Method: "iam.Groups/Create", Request: `{"parent":"$org","group":{"name":"$run","description":"words"}}`, Want: `{"name":"$run","description":"words"}`, Keep: "group=id"},
		{Method: "iam.Groups/List", Request: `{"id":"$group"}`, Want: `{"items":[{"id":"$group","name":"$run"}]}`},
		{Method: "iam.Groups/Update", Request: `{"id":"$group","name":"$run","description":"other"}`, Want: `{"description":"other"}`},
		{Method: "iam.Groups/List", Request: `{"uidp":{"children_of":"$org"},"name":"$run"}`, Want: `{"items":[{"id":"$group","description":"other"}]}`},
		{Method: "iam.Groups/Delete", Request: `{"id":"$group"}`, Want: `{}`},
		{Method: "iam.Groups/List", Request: `{"id":"$group"}`, Want: `{"items":[]}`},
		{Method: "iam.Groups/Update", Request: `{"id":"$group","name":"$run"}`, Code: codes.NotFound},
	},
	"repo and tag": {
		{Method: "registry.Registry/CreateRepo", Request: `{"parent_id":"$org","repo":{"name":"$run","bundles":["base"]}}`, Want: `{"name":"$run","bundles":["base"]}`, Keep: "repo=id"},
		{Method: "registry.Registry/UpdateRepo", Request: `{"id":"$repo","name":"$run","description":"words"}`, Want: `{"description":"words"}`},
		{Method: "registry.Registry/ListRepos", Request: `{"id":"$repo"}`, Want: `{"items":[{"id":"$repo","description":"words"}]}`},
		{Method: "registry.Registry/CreateTag", Request: `{"repo_id":"$repo","tag":{"name":"1.0","digest":"` + digestA + `"}}`, Want: `{"name":"1.0"}`, Keep: "tag=id"},
		{Method: "registry.Registry/UpdateTag", Request: `{"id":"$tag","name":"1.0","digest":"` + digestB + `"}`, Want: `{"digest":"` + digestB + `"}`, Keep: "tag=id"},
		{Method: "registry.Registry/ListTags", Request: `{"uidp":{"children_of":"$repo"}}`, Want: `{"items":[{"id":"$tag","digest":"` + digestB + `"}]}`},
		{Method: "registry.Registry/GetDeployment", Request: `{"repo_id":"$repo"}`, Code: codes.Unimplemented},
		{Method: "registry.Registry/DeleteTag", Request: `{"id":"$tag"}`},
		{Method: "registry.Registry/DeleteRepo", Request: `{"id":"$repo"}`},
		{Method: "registry.Registry/ListRepos", Request: `{"id":"$repo"}`, Want: `{"items":[]}`},
	},
	"role, identity and binding": {
		{Method: "iam.Groups/Create", Request: `{"parent":"$org","group":{"name":"$run bound"}}`, Keep: "group=id"},
		{Method: "iam.Roles/Create", Request: `{"parent_id":"$group","role":{"name":"reader","capabilities":["groups.list"]}}`, Want: `{"capabilities":["groups.list"]}`, Keep: "role=id"},
		{Method: "iam.Roles/Update", Request: `{"id":"$role","name":"reader","capabilities":["groups.list","repo.list"]}`, Want: `{"capabilities":["groups.list","repo.list"]}`},
		{Method: "iam.Roles/List", Request: `{"id":"$role"}`, Want: `{"items":[{"name":"reader"}]}`},
		{Method: "iam.Identities/Create", Request: `{"parent_id":"$group","identity":{"name":"robot","claim_match":{"issuer":"https://i.example","subject":"$run","claims":{"a_b":"c"}}}}`, Want: `{"claim_match":{"subject":"$run","claims":{"a_b":"c"}}}`, Keep: "identity=id"},
		{Method: "iam.Identities/Update", Request: `{"id":"$identity","name":"robot","description":"words"}`, Want: `{"description":"words"}`},
		{Method: "iam.Identities/List", Request: `{"id":"$identity"}`, Want: `{"items":[{"description":"words"}]}`},
		{Method: "iam.RoleBindings/Create", Request: `{"parent":"$group","role_binding":{"identity":"$identity","role":"$role"}}`, Want: `{"identity":"$identity","role":"$role"}`, Keep: "binding=id"},
		{Method: "iam.RoleBindings/List", Request: `{"id":"$binding"}`, Want: `{"items":[{"id":"$binding","identity":"$identity","role":{"id":"$role"}}]}`},
		{Method: "iam.RoleBindings/Delete", Request: `{"id":"$binding"}`},
		{Method: "iam.Identities/Delete", Request: `{"id":"$identity"}`},
		{Method: "iam.Roles/Delete", Request: `{"id":"$role"}`},
		{Method: "iam.Groups/Delete", Request: `{"id":"$group"}`},
	},
	"subscription": {
		{Method: "events.Subscriptions/Create", Request: `{"parent_id":"$org","subscription":{"sink":"https://localhost:9/$run"}}`, Want: `{"sink":"https://localhost:9/$run"}`, Keep: "subscription=id"},
		{Method: "events.Subscriptions/List", Request: `{"id":"$subscription"}`, Want: `{"items":[{"sink":"https://localhost:9/$run"}]}`},
		{Method: "events.Subscriptions/Delete", Request: `{"id":"$subscription"}`},
		{Method: "events.Subscriptions/List", Request: `{"id":"$subscription"}`, Want: `{"items":[]}`},
	},
	"invite": {
		{Method: "iam.Roles/List", Request: `{"name":"viewer"}`, Keep: "viewer=items.0.id"},
		{Method: "iam.GroupInvites/Create", Request: `{"group":"$org","ttl":"3600s","role":"$viewer","email":"a@example.com","single_use":true}`, Want: `{"role":{"id":"$viewer"}}`, Keep: "invite=id"},
		{Method: "iam.GroupInvites/List", Request: `{"id":"$invite"}`, Want: `{"items":[{"email":"a@example.com","single_use":true}]}`},
		{Method: "iam.GroupInvites/Delete", Request: `{"id":"$invite"}`},
	},
	"association": {
		{Method: "iam.Groups/Create", Request: `{"parent":"$org","group":{"name":"$run cloud"}}`, Keep: "group=id"},
		{Method: "iam.GroupAccountAssociations/Create", Request: `{"group":"$group","name":"cloud","amazon":{"account":"123456789012"}}`, Want: `{"amazon":{"account":"123456789012"}}`},
		{Method: "iam.GroupAccountAssociations/Update", Request: `{"group":"$group","name":"cloud","google":{"project_id":"p","project_number":"42"}}`, Want: `{"google":{"project_number":"42"}}`},
		{Method: "iam.GroupAccountAssociations/List", Request: `{"group":"$group"}`, Want: `{"items":[{"google":{"project_id":"p"}}]}`},
		{Method: "iam.GroupAccountAssociations/Delete", Request: `{"group":"$group"}`},
		{Method: "iam.Groups/Delete", Request: `{"id":"$group"}`},
	},
	"provider": {
		{Method: "iam.Roles/List", Request: `{"name":"viewer"}`, Keep: "viewer=items.0.id"},
		{Method: "iam.IdentityProviders/Create", Request: `{"parent_id":"$org","identity_provider":{"name":"$run","default_role":"$viewer","oidc":{"issuer":"https://login.example","client_id":"c","client_secret":"s"}}}`, Want: `{"oidc":{"client_id":"c"}}`, Keep: "provider=id"},
		{Method: "iam.IdentityProviders/List", Request: `{"id":"$provider"}`, Want: `{"items":[{"name":"$run"}]}`},
		{Method: "iam.IdentityProviders/Delete", Request: `{"id":"$provider"}`},
	},
	"reads": {
		{Method: "libraries.Artifacts/List", Request: `{"ecosystems":["JAVA"]}`},
		{Method: "advisory.SecurityAdvisory/ListDocuments", Request: `{}`},
		{Method: "vulnerabilities.v1.Advisories/List", Request: `{}`},
		{Method: "registry.Registry/ListEolTags", Request: `{"uidp":{"children_of":"$org"}}`},
	},
}
