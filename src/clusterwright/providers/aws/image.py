"""What machines become: an image for each builder, and the name that its digest is found by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pulumi
import pulumi_aws as aws

from clusterwright.plan.builders import Recipe
from clusterwright.plan.images import PARAMETER, TAG, image_name
from clusterwright.providers.aws.tags import named

_OUTLIVES = pulumi.ResourceOptions(
    # The stack is the builders' alone: an image goes on request, with `clusterwright image remove`.
    retain_on_delete=True,
)


class Images(pulumi.ComponentResource):
    """Amazon machine images of builders that sealed themselves."""

    ids: Mapping[str, pulumi.Output[str]]
    """By digest."""

    def __init__(
        self,
        name: str,
        *,
        recipes: Iterable[Recipe],
        machines: pulumi.Output[dict[str, str]],
        tags: Mapping[str, str],
        after: pulumi.Resource,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`after`: what says that they are done, sealed and on the disk."""
        super().__init__("clusterwright:aws:Images", name, None, opts)
        own = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(parent=self, depends_on=[after]), _OUTLIVES)
        self.ids = {one.digest: self._image(one, machines, tags, own) for one in recipes}
        self.register_outputs({"ids": dict(self.ids)})

    def _image(
        self,
        recipe: Recipe,
        machines: pulumi.Output[dict[str, str]],
        tags: Mapping[str, str],
        own: pulumi.ResourceOptions,
    ) -> pulumi.Output[str]:
        name = image_name(recipe.digest)
        mine = named({**tags, TAG: recipe.digest}, name)
        made = aws.ec2.AmiFromInstance(
            name,
            name=name,
            description=f"{', '.join(recipe.nodes[:3])}{' …' if len(recipe.nodes) > 3 else ''}",
            source_instance_id=machines.apply(lambda ids: ids[recipe.builder]),
            tags=mine,
            opts=own,
        )
        aws.ssm.Parameter(
            name,
            name=f"{PARAMETER}{recipe.digest}",
            type="String",
            data_type="aws:ec2:image",
            value=made.id,
            tags=mine,
            opts=own,
        )
        return made.id
